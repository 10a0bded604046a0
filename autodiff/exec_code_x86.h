/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_x86.h  Private to the emitter: encoding of x86-64 instructions, the state of a function on
 * its way.
 *
 *  Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapters 2.1 (ModRM, SIB),
 *  2.2 (REX), 2.3 (VEX) and 2.7 (EVEX). */
#ifndef PCSIM_AUTODIFF_EXEC_CODE_X86_H
#define PCSIM_AUTODIFF_EXEC_CODE_X86_H

#include "exec_code.h"

enum { MAX_REGISTERS = 32 };
/* Registers of addresses, as the calling convention passes them, and others. */
enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15 };
/* Fields of the VEX prefix: opcode map, implied prefix; NARROW: 16 bytes of a vector. */
enum { MAP_0F = 1, MAP_0F38 = 2, MAP_0F3A = 3 };
enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2, NARROW = 4 };

/** A register of addresses that holds what one stream (of a gather: one point) or one index needs. */
typedef struct {
  int stream, point; /**< stream -1: empty */
  int used;          /**< step that used it last */
} address_register;
enum { NUM_ADDRESSES = 8 };

typedef struct {
  const code_trace *trace;
  code_bytes *out;
  bool single;
  int vector_bytes, num_registers; /**< 32 and 16 (AVX2), 64 and 32 (AVX-512) */
  int64_t row_bytes, loop_bytes;   /**< between rows; that the loop walks over */
  int (*later)[CODE_INPUTS];       /**< [steps]: step that reads the input next */
  int *wanted;                     /**< [values]: step that reads the value next */
  int *held;                       /**< [values]: register, -1 */
  code_home *homes;                /**< [values] */
  int *owner;                      /**< [rows] value whose home it is, -1 */
  int in_register[MAX_REGISTERS];
  bool locked[MAX_REGISTERS];
  int *free_spills, num_free, spills;
  address_register addresses[NUM_ADDRESSES];
} emitter;

/** A register, or memory at `displacement` from an address. */
typedef struct {
  int reg, address;
  int64_t displacement;
} operand_rm;

static inline operand_rm of_register(int reg) { return (operand_rm){reg, -1, 0}; }
static inline operand_rm of_memory(int address, int64_t displacement) {
  return (operand_rm){-1, address, displacement};
}

void code_put(code_bytes *out, unsigned byte);
void code_put_32(code_bytes *out, int64_t value);
/** Vector instruction: prefix opcode reg, second, rm; second -1: it has none. */
void code_vector(code_bytes *out, int map, int prefix, bool wide, unsigned opcode, int reg, int second,
                 operand_rm rm);
/** The same on vectors of 64 bytes, in the AVX-512 form of the instruction. */
void code_vector_512(code_bytes *out, int map, int prefix, bool wide, unsigned opcode, int reg, int second,
                     operand_rm rm);
/** Instruction on 64-bit registers: REX.W opcode reg, rm. */
void code_integer(code_bytes *out, unsigned opcode, int reg, operand_rm rm);
/** Two-byte instruction 0F opcode /digit on memory: prefetches. */
void code_memory(code_bytes *out, unsigned opcode, int digit, operand_rm rm);
void code_push(code_bytes *out, int reg);
void code_pop(code_bytes *out, int reg);

/* ------------------------------------------------ streams (exec_code_stream.c) */

/** Registers that a function with streams changes and has to give back as they were. */
void streams_save(emitter *e);
void streams_restore(emitter *e);
/** At the begin of the body: nothing is in a register of addresses; what lies ahead is asked for. */
void streams_begin(emitter *e);
/** At its end: to the next four points. */
void streams_walk(emitter *e);
/** Load into the register, store from it. */
void streams_take(emitter *e, int at, int reg);
void streams_put(emitter *e, int at, int reg);

#endif
