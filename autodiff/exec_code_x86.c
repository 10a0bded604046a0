/* SPDX-License-Identifier: BSD-2-Clause */
/** @file exec_code_x86.c  Encoding of instructions: see exec_code_x86.h for the source. */
#include "exec_code_x86.h"

void code_put(code_bytes *out, unsigned byte) {
  if (out->status == PCSIM_OK && out->size == out->room) {
    out->status = pcsim_realloc(2 * out->room + 4096, 1, &out->bytes);
    if (out->status == PCSIM_OK) out->room = 2 * out->room + 4096;
  }
  if (out->status == PCSIM_OK) out->bytes[out->size++] = (unsigned char)byte;
}

void code_put_32(code_bytes *out, int64_t value) {
  for (int i = 0; i < 4; i++) code_put(out, (unsigned)(value >> 8 * i) & 255);
}

/** ModRM, SIB where the address needs one, displacement; one of a byte counts in units of `scale` bytes. */
static void put_operand(code_bytes *out, int reg, operand_rm rm, int scale) {
  const unsigned middle = (unsigned)(reg & 7) << 3;
  if (rm.reg >= 0) {
    code_put(out, 0xC0u | middle | (unsigned)(rm.reg & 7));
    return;
  }
  const int64_t units = rm.displacement / scale;
  const bool narrow = units * scale == rm.displacement && units >= -128 && units < 128;
  code_put(out, (narrow ? 0x40u : 0x80u) | middle | (unsigned)(rm.address & 7));
  if ((rm.address & 7) == RSP) code_put(out, 0x24);
  if (narrow) code_put(out, (unsigned)units & 255);
  else code_put_32(out, rm.displacement);
}

/** Is the operand's register or address one of the upper eight? */
static bool is_upper(operand_rm rm) { return (rm.reg >= 0 ? rm.reg : rm.address) >= 8; }

void code_vector(code_bytes *out, int map, int prefix, bool wide, unsigned opcode, int reg, int second,
                 operand_rm rm) {
  code_put(out, 0xC4);
  code_put(out, (reg < 8 ? 0x80u : 0) | 0x40u | (is_upper(rm) ? 0 : 0x20u) | (unsigned)map);
  code_put(out, (wide ? 0x80u : 0) | (unsigned)(15 - (second < 0 ? 0 : second)) << 3 |
                    (prefix & NARROW ? 0 : 4u) | (unsigned)(prefix & 3));
  code_put(out, opcode);
  put_operand(out, reg, rm, 1);
}

void code_vector_512(code_bytes *out, int map, int prefix, bool wide, unsigned opcode, int reg, int second,
                     operand_rm rm) {
  enum { LENGTH_512 = 0x40, VECTOR = 64 };
  const unsigned from = (unsigned)(second < 0 ? 0 : second);
  const bool upper_16 = rm.reg >= 16;
  code_put(out, 0x62);
  code_put(out, (reg & 8 ? 0 : 0x80u) | (upper_16 ? 0 : 0x40u) |
                    ((rm.reg >= 0 ? rm.reg : rm.address) & 8 ? 0 : 0x20u) | (reg & 16 ? 0 : 0x10u) |
                    (unsigned)map);
  code_put(out, (wide ? 0x80u : 0) | (~from & 15) << 3 | 4u | (unsigned)(prefix & 3));
  code_put(out, LENGTH_512 | (from & 16 ? 0 : 8u));
  code_put(out, opcode);
  put_operand(out, reg, rm, VECTOR);
}

void code_integer(code_bytes *out, unsigned opcode, int reg, operand_rm rm) {
  code_put(out, 0x48u | (reg >= 8 ? 4u : 0) | (is_upper(rm) ? 1u : 0));
  code_put(out, opcode);
  put_operand(out, reg, rm, 1);
}

void code_memory(code_bytes *out, unsigned opcode, int digit, operand_rm rm) {
  if (is_upper(rm)) code_put(out, 0x41);
  code_put(out, 0x0F);
  code_put(out, opcode);
  put_operand(out, digit, rm, 1);
}

void code_push(code_bytes *out, int reg) {
  if (reg >= 8) code_put(out, 0x41);
  code_put(out, 0x50u + (unsigned)(reg & 7));
}

void code_pop(code_bytes *out, int reg) {
  if (reg >= 8) code_put(out, 0x41);
  code_put(out, 0x58u + (unsigned)(reg & 7));
}
