/* SPDX-License-Identifier: BSD-2-Clause */
/* A tree as YAML text that reads back to the same tree. Own writer: block style for mappings, one line for
 * short sequences, the user's quotes kept, everything doubtful double-quoted. */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_LENGTH = 100 };

static bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/** Can the text stand without quotes? Stricter than YAML, hence safe; commas part values within brackets. */
static bool is_plain(const char *text, bool in_brackets) {
  size_t n = strlen(text);
  const char *first = text;
  if (!n || text[n - 1] == ' ') return false;
  if (*first == '-' || *first == '+' || *first == '.') first++;
  if (!is_alnum(*first) && !(*first == '.' && is_alnum(first[1])) && *text != '(' && *text != '/')
    return false;
  for (const char *p = text; *p; p++) {
    if (is_alnum(*p) || strchr("._/*+^()<=>-%|", *p)) continue;
    if (*p == ',' && !in_brackets) continue;
    if (*p == ' ') continue;
    if (*p == ':' && is_alnum(p[1]) && p > text && !in_brackets) continue;
    if ((unsigned char)*p >=
        0xc0) { /* letters of other scripts; blanks and breaks of Unicode are not plain */
      uint32_t code;
      size_t size = tree_decode(p, text + n, &code);
      if (!size || code < 0xc0 || (code >= 0x2000 && code < 0x2070) || !tree_printable(code)) return false;
      p += size - 1;
      continue;
    }
    return false;
  }
  return true;
}

static void write_quoted(FILE *out, const char *text) {
  const char *end = text + strlen(text);
  fputc('"', out);
  while (text < end) {
    uint32_t code = 0;
    size_t n = tree_decode(text, end, &code);
    if (!n) { /* cannot come from a YAML text */
      text++;
      continue;
    }
    if (code == '"' || code == '\\') fprintf(out, "\\%c", (int)code);
    else if (code == '\n') fputs("\\n", out);
    else if (code == '\t') fputs("\\t", out);
    else if (code == '\r') fputs("\\r", out);
    else if (!tree_printable(code) || code == 0x85 || code == 0xa0 || code == 0x2028 || code == 0x2029) {
      if (code > 0xffff) fprintf(out, "\\U%08X", (unsigned)code);
      else fprintf(out, "\\u%04X", (unsigned)code);
    } else {
      fwrite(text, 1, n, out);
    }
    text += n;
  }
  fputc('"', out);
}

static void write_scalar(FILE *out, const pcsim_node *node, bool in_brackets) {
  if (node->style == STYLE_PLAIN && is_plain(node->text, in_brackets)) fputs(node->text, out);
  else write_quoted(out, node->text);
}

/** Has a form on one line within brackets: scalars and sequences only, none of them `nothing`. */
static bool fits_flow(const pcsim_node *node, int *length) {
  if (node->kind == PCSIM_NODE_MAPPING) return node->size == 0;
  if (node->kind == PCSIM_NODE_SCALAR) {
    if (node_is_empty(node)) return false;
    size_t n = strlen(node->text);
    *length += n > LINE_LENGTH ? LINE_LENGTH : (int)n + 4;
    return *length < LINE_LENGTH;
  }
  for (int64_t i = 0; i < node->size; i++)
    if (!fits_flow(node->children[i], length)) return false;
  *length += 4;
  return *length < LINE_LENGTH;
}

static void write_flow(FILE *out, const pcsim_node *node, bool in_brackets) {
  if (node->kind == PCSIM_NODE_MAPPING) {
    fputs("{}", out);
  } else if (node->kind == PCSIM_NODE_SCALAR) {
    write_scalar(out, node, in_brackets);
  } else {
    fputc('[', out);
    for (int64_t i = 0; i < node->size; i++) {
      if (i) fputs(", ", out);
      write_flow(out, node->children[i], true);
    }
    fputc(']', out);
  }
}

static void write_block(FILE *out, const pcsim_node *node, int indent, int first_indent);

/** What follows "key:" or "-", to the end of its lines. */
static void write_value(FILE *out, const pcsim_node *node, int indent) {
  int length = indent;
  if (node_is_empty(node)) {
    fputc('\n', out);
  } else if (node->kind == PCSIM_NODE_SCALAR || !node->size || fits_flow(node, &length)) {
    fputc(' ', out);
    write_flow(out, node, false);
    fputc('\n', out);
  } else if (node->kind == PCSIM_NODE_MAPPING && !node->key) {
    fputc(' ', out); /* "- key: value" on one line */
    write_block(out, node, indent + 2, 0);
  } else {
    fputc('\n', out);
    write_block(out, node, indent + 2, indent + 2);
  }
}

static void write_block(FILE *out, const pcsim_node *node, int indent, int first_indent) {
  for (int64_t i = 0; i < node->size; i++) {
    const pcsim_node *value = node->children[i];
    fprintf(out, "%*s", i ? indent : first_indent, "");
    if (node->kind == PCSIM_NODE_MAPPING) {
      write_scalar(out, value->key, true);
      fputc(':', out);
    } else {
      fputc('-', out);
    }
    write_value(out, value, indent);
  }
}

pcsim_status pcsim_tree_write(const pcsim_tree *tree, char **text) {
  char *buffer = NULL;
  size_t size = 0;
  *text = NULL;
  FILE *out = open_memstream(&buffer, &size);
  PCSIM_CHECK(out, PCSIM_ERR_MEMORY, "out of memory for the text of the case");
  if (tree->root->size) write_block(out, tree->root, 0, 0);
  else fputs("{}\n", out);
  bool failed = ferror(out) != 0;
  if (fclose(out) || failed || !buffer) {
    free(buffer);
    PCSIM_FAIL(PCSIM_ERR_MEMORY, "out of memory for the text of the case");
  }
  pcsim_status status = pcsim_strdup(buffer, text);
  free(buffer);
  return status;
}
