/* SPDX-License-Identifier: BSD-2-Clause */
/* YAML text to nodes, on libyaml's event interface: every node knows its place, and nothing is expanded. */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* -------------------------------------------------------- characters */

size_t tree_decode(const char *text, const char *end, uint32_t *code) {
  const unsigned char *s = (const unsigned char *)text;
  size_t left = (size_t)(end - text);
  if (!left) return 0;
  size_t n = s[0] < 0x80                   ? 1
             : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
             : (s[0] & 0xf0) == 0xe0       ? 3
             : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                           : 0;
  if (!n || n > left) return 0;
  uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (s[i] & 0x3fu);
  }
  if ((n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
    return 0;
  *code = c;
  return n;
}

bool tree_printable(uint32_t c) {
  return c == 0x09 || c == 0x0a || c == 0x0d || (c >= 0x20 && c <= 0x7e) || c == 0x85 ||
         (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) ||
         (c >= 0x10000 && c <= 0x10ffff);
}

/** Is the text printable UTF-8? If not, says so at the place. */
static bool check_characters(pcsim_tree *tree, const tree_source *source) {
  const char *at = source->text, *end = at + source->size;
  int line = 1, column = 1 + source->shift;
  while (at < end) {
    uint32_t code = 0;
    size_t n = tree_decode(at, end, &code);
    if (!n) {
      tree_problem_at(tree, source, line, column,
                      "byte 0x%02x is not UTF-8; a case is UTF-8 text (is this a binary file, or text in "
                      "another encoding?)",
                      (unsigned char)*at);
      return false;
    }
    if (!code) {
      tree_problem_at(tree, source, line, column, "a zero byte: this is a binary file; a case is UTF-8 text");
      return false;
    }
    if (!tree_printable(code)) {
      tree_problem_at(tree, source, line, column, "control character U+%04X; a case is printable UTF-8 text",
                      (unsigned)code);
      return false;
    }
    at += n;
    column++;
    if (code == '\n' || (code == '\r' && (at == end || *at != '\n'))) {
      line++;
      column = 1;
    }
  }
  return true;
}

/* ------------------------------------------------------------ reader */

typedef struct {
  pcsim_tree *tree;
  const tree_source *source;
  yaml_parser_t parser;
  size_t index, byte; /**< characters and bytes up to the last place asked for: places only grow */
  pcsim_node *open[TREE_MAX_DEPTH];
  pcsim_node *key[TREE_MAX_DEPTH]; /**< key that waits for its value in each open mapping */
  int depth;
  int64_t num_nodes;
  int documents;
  bool done, useless; /**< stop reading; the result cannot be used */
  pcsim_node *root;
} reader;

static int line_of(const reader *r, yaml_mark_t mark) { return r->source->made ? 0 : (int)mark.line + 1; }
static int column_of(const reader *r, yaml_mark_t mark) {
  return (int)mark.column + 1 + (mark.line == 0 ? r->source->shift : 0);
}

#define PROBLEM(r, mark, ...)                                                                                \
  tree_problem_at((r)->tree, (r)->source, (int)(mark).line + 1, column_of(r, mark), __VA_ARGS__)

static size_t byte_of(reader *r, yaml_mark_t mark) {
  if (mark.index < r->index) r->index = r->byte = 0;
  while (r->index < mark.index && r->byte < r->source->size) {
    do r->byte++;
    while (r->byte < r->source->size && ((unsigned char)r->source->text[r->byte] & 0xc0) == 0x80);
    r->index++;
  }
  return r->byte;
}

/** libyaml puts the end of a text without a last line break into a line that is not there. */
static yaml_mark_t real_place(reader *r, yaml_mark_t at) {
  const char *text = r->source->text, *end = text + r->source->size;
  if (byte_of(r, at) < r->source->size || at.column || !at.line || end == text || end[-1] == '\n' ||
      end[-1] == '\r')
    return at;
  for (; end > text && end[-1] != '\n' && end[-1] != '\r'; end--)
    at.column += ((unsigned char)end[-1] & 0xc0) != 0x80;
  at.line--;
  return at;
}

/** libyaml's words in ours where a user is likely to meet them. */
static void syntax_problem(reader *r) {
  const yaml_parser_t *p = &r->parser;
  const char *what = p->problem ? p->problem : "cannot be read";
  yaml_mark_t at = real_place(r, p->problem_mark), from = p->context_mark;
  int line = (int)from.line + 1, column = column_of(r, from);
  char c = r->source->text[byte_of(r, at)];
  r->done = r->useless = true;
  if (!strcmp(what, "found character that cannot start any token")) {
    if (c == '\t') PROBLEM(r, at, "a tab cannot indent; use spaces");
    else PROBLEM(r, at, "'%c' cannot start a value; put the text in quotes", c);
  } else if (!strcmp(what, "mapping values are not allowed in this context")) {
    PROBLEM(
        r, at,
        "unexpected ':'; a text with ': ' in it needs quotes, and the keys of a mapping start in one column");
  } else if (!strcmp(what, "could not find expected ':'")) {
    PROBLEM(r, at, "expected ':' after the key that starts in line %d, column %d", line, column);
  } else if (!strcmp(what, "did not find expected key")) {
    PROBLEM(r, at, "expected a key of the mapping that starts in line %d, column %d, in that column", line,
            column);
  } else if (!strcmp(what, "did not find expected '-' indicator")) {
    PROBLEM(r, at, "expected '-' of the sequence that starts in line %d, column %d, in that column", line,
            column);
  } else if (!strcmp(what, "did not find expected ',' or ']'") ||
             !strcmp(what, "did not find expected ',' or '}'")) {
    PROBLEM(r, at, "expected ',' or '%c' for the '%c' in line %d, column %d", what[30],
            what[30] == ']' ? '[' : '{', line, column);
  } else if (!strcmp(what, "did not find expected node content")) {
    PROBLEM(r, at, "expected a value within brackets, found %s",
            c ? "a sign that starts none" : "the end of the text");
  } else if (!strcmp(what, "found unexpected end of stream")) {
    PROBLEM(r, at, "the quoted text that starts in line %d, column %d is not closed", line, column);
  } else if (!strcmp(what, "found unknown escape character")) {
    PROBLEM(r, at,
            "unknown escape in a double-quoted text; write \\\\ for a backslash, or use single quotes");
  } else {
    PROBLEM(r, at, "wrong YAML: %s%s%s", what, p->context ? " " : "", p->context ? p->context : "");
  }
}

static pcsim_status add_node(reader *r, pcsim_node *node, yaml_mark_t start) {
  if (!r->depth) {
    if (!r->root) r->root = node;
    return PCSIM_OK;
  }
  pcsim_node *parent = r->open[r->depth - 1], **key = &r->key[r->depth - 1];
  if (parent->kind == PCSIM_NODE_SEQUENCE) return tree_append(r->tree, parent, NULL, node);
  if (*key) {
    pcsim_node *under = *key;
    *key = NULL;
    return tree_append(r->tree, parent, under, node);
  }
  if (node->kind != PCSIM_NODE_SCALAR) {
    PROBLEM(r, start, "a key is a text, found a %s; a text that starts with '%c' needs quotes",
            node->kind == PCSIM_NODE_MAPPING ? "mapping" : "sequence",
            node->kind == PCSIM_NODE_MAPPING ? '{' : '[');
    r->done = r->useless = true;
  } else if (parent->size >= TREE_MAX_KEYS) {
    PROBLEM(r, start, "a mapping has more than %d keys; put tables into files of their own", TREE_MAX_KEYS);
    r->done = r->useless = true;
  } else if (strlen(node->text) > TREE_MAX_KEY) {
    PROBLEM(r, start, "a key has more than %d characters", TREE_MAX_KEY);
    r->done = r->useless = true;
  }
  node->parent = parent;
  *key = node;
  return PCSIM_OK;
}

static pcsim_status start_node(reader *r, pcsim_node_kind kind, const yaml_event_t *e, pcsim_node **node) {
  if (++r->num_nodes > TREE_MAX_NODES) {
    PROBLEM(r, e->start_mark, "more than %d values; put tables into files of their own", TREE_MAX_NODES);
    r->done = r->useless = true;
  }
  PCSIM_TRY(tree_new_node(r->tree, kind, r->source, node));
  (*node)->line = line_of(r, e->start_mark);
  (*node)->column = column_of(r, e->start_mark);
  (*node)->start = byte_of(r, e->start_mark);
  (*node)->end = byte_of(r, e->end_mark);
  return PCSIM_OK;
}

static void refuse_decoration(reader *r, pcsim_node *node, const yaml_char_t *anchor, const yaml_char_t *tag,
                              yaml_mark_t at) {
  if (anchor) {
    PROBLEM(r, at,
            "anchors (&%s) are not used in a case; write the value out, or use 'parameters' or 'extends'",
            (const char *)anchor);
    node->broken = true;
  }
  if (tag) {
    PROBLEM(r, at, "tags (%s) are not used in a case; each key knows its type", (const char *)tag);
    node->broken = true;
  }
}

static pcsim_status on_scalar(reader *r, const yaml_event_t *e) {
  static const scalar_style styles[] = {[YAML_PLAIN_SCALAR_STYLE] = STYLE_PLAIN,
                                        [YAML_SINGLE_QUOTED_SCALAR_STYLE] = STYLE_SINGLE,
                                        [YAML_DOUBLE_QUOTED_SCALAR_STYLE] = STYLE_DOUBLE,
                                        [YAML_LITERAL_SCALAR_STYLE] = STYLE_LITERAL,
                                        [YAML_FOLDED_SCALAR_STYLE] = STYLE_FOLDED};
  pcsim_node *node;
  char *text;
  PCSIM_TRY(start_node(r, PCSIM_NODE_SCALAR, e, &node));
  unsigned style = (unsigned)e->data.scalar.style;
  node->style = style < sizeof styles / sizeof styles[0] ? styles[style] : STYLE_PLAIN;
  PCSIM_TRY(arena_copy(&r->tree->memory, (const char *)e->data.scalar.value, e->data.scalar.length, &text));
  node->text = text;
  if (strlen(text) != e->data.scalar.length) {
    PROBLEM(r, e->start_mark, "the text contains a zero character (\\0)");
    node->broken = true;
  }
  refuse_decoration(r, node, e->data.scalar.anchor, e->data.scalar.tag, e->start_mark);
  return add_node(r, node, e->start_mark);
}

static pcsim_status on_alias(reader *r, const yaml_event_t *e) {
  pcsim_node *node;
  PROBLEM(r, e->start_mark, "aliases (*%s) are not used in a case; a text that starts with '*' needs quotes",
          (const char *)e->data.alias.anchor);
  PCSIM_TRY(start_node(r, PCSIM_NODE_SCALAR, e, &node));
  node->broken = true;
  return add_node(r, node, e->start_mark);
}

static pcsim_status on_open(reader *r, const yaml_event_t *e) {
  pcsim_node *node;
  bool mapping = e->type == YAML_MAPPING_START_EVENT;
  PCSIM_TRY(start_node(r, mapping ? PCSIM_NODE_MAPPING : PCSIM_NODE_SEQUENCE, e, &node));
  if (mapping)
    refuse_decoration(r, node, e->data.mapping_start.anchor, e->data.mapping_start.tag, e->start_mark);
  else refuse_decoration(r, node, e->data.sequence_start.anchor, e->data.sequence_start.tag, e->start_mark);
  PCSIM_TRY(add_node(r, node, e->start_mark));
  if (r->depth == TREE_MAX_DEPTH) {
    PROBLEM(r, e->start_mark, "more than %d levels inside each other", TREE_MAX_DEPTH);
    r->done = r->useless = true;
    return PCSIM_OK;
  }
  r->key[r->depth] = NULL;
  r->open[r->depth++] = node;
  return PCSIM_OK;
}

static int by_key(const void *a, const void *b) {
  const pcsim_node *p = *(pcsim_node *const *)a, *q = *(pcsim_node *const *)b;
  int order = strcmp(p->key->text, q->key->text);
  return order ? order : p->key->start < q->key->start ? -1 : 1;
}

/** The first of equal keys counts; sorting keeps this cheap for any number of keys. */
static pcsim_status find_duplicates(reader *r, const pcsim_node *mapping) {
  pcsim_node **sorted = NULL;
  size_t n = (size_t)mapping->size;
  if (n < 2) return PCSIM_OK;
  PCSIM_TRY(pcsim_alloc(n, sizeof *sorted, &sorted));
  memcpy(sorted, mapping->children, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, by_key);
  size_t first = 0;
  for (size_t i = 1; i < n; i++) {
    const pcsim_node *key = sorted[i]->key;
    if (strcmp(sorted[first]->key->text, key->text) != 0) first = i;
    else
      tree_problem_at(r->tree, r->source, key->line, key->column,
                      "the key '%s' stands here a second time; first in line %d, column %d", key->text,
                      sorted[first]->key->line, sorted[first]->key->column);
  }
  pcsim_free(&sorted);
  return PCSIM_OK;
}

static pcsim_status on_event(reader *r, const yaml_event_t *e) {
  switch (e->type) {
  case YAML_DOCUMENT_START_EVENT:
    if (++r->documents > 1) {
      PROBLEM(r, e->start_mark, "a second document starts here; a case is one document (one '---' at most)");
      r->done = true;
    }
    return PCSIM_OK;
  case YAML_SCALAR_EVENT:
    return on_scalar(r, e);
  case YAML_ALIAS_EVENT:
    return on_alias(r, e);
  case YAML_SEQUENCE_START_EVENT:
  case YAML_MAPPING_START_EVENT:
    return on_open(r, e);
  case YAML_MAPPING_END_EVENT:
    r->depth--;
    return find_duplicates(r, r->open[r->depth]);
  case YAML_SEQUENCE_END_EVENT:
    r->depth--;
    return PCSIM_OK;
  case YAML_STREAM_END_EVENT:
    r->done = true;
    return PCSIM_OK;
  default:
    return PCSIM_OK;
  }
}

pcsim_status tree_scan(pcsim_tree *tree, const tree_source *source, pcsim_node **root) {
  *root = NULL;
  if (!check_characters(tree, source)) return PCSIM_OK;
  reader *r = NULL;
  PCSIM_TRY(pcsim_alloc(1, sizeof *r, &r));
  r->tree = tree;
  r->source = source;
  if (!yaml_parser_initialize(&r->parser)) {
    pcsim_free(&r);
    PCSIM_FAIL(PCSIM_ERR_MEMORY, "out of memory for the YAML reader");
  }
  yaml_parser_set_encoding(&r->parser, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&r->parser, (const unsigned char *)source->text, source->size);
  pcsim_status status = PCSIM_OK;
  while (status == PCSIM_OK && !r->done) {
    yaml_event_t event;
    if (!yaml_parser_parse(&r->parser, &event)) {
      if (r->parser.error == YAML_MEMORY_ERROR)
        status = pcsim_error_set(PCSIM_ERR_MEMORY, __FILE__, __LINE__, __func__,
                                 "out of memory for the YAML reader");
      else syntax_problem(r);
      break;
    }
    status = on_event(r, &event);
    yaml_event_delete(&event);
  }
  yaml_parser_delete(&r->parser);
  if (status == PCSIM_OK && !r->useless) *root = r->root;
  pcsim_free(&r);
  return status;
}

/* ------------------------------------------------ places inside a text */

static size_t utf8_size(uint32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

/** Raw bytes of the escape at `s` (a backslash) and the bytes it stands for. */
static size_t escape_size(const char *s, const char *end, size_t *produced) {
  size_t digits = s + 1 >= end ? 0 : s[1] == 'x' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
  *produced = 1;
  if (s + 1 < end && (s[1] == 'N' || s[1] == '_')) *produced = 2;
  if (s + 1 < end && (s[1] == 'L' || s[1] == 'P')) *produced = 3;
  if (digits) {
    uint32_t code = 0;
    for (size_t i = 0; i < digits && s + 2 + i < end; i++) {
      char c = s[2 + i];
      code = code << 4 | (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    *produced = utf8_size(code);
  }
  return 2 + digits;
}

typedef struct {
  const char *at, *end;
  const char *straight; /**< no line break follows the blanks before this place */
  int line, column;
} walker;

static bool at_break(const walker *w) { return w->at < w->end && (*w->at == '\n' || *w->at == '\r'); }
static bool at_blank(const walker *w) { return w->at < w->end && (*w->at == ' ' || *w->at == '\t'); }

static void step_character(walker *w) {
  do w->at++;
  while (w->at < w->end && ((unsigned char)*w->at & 0xc0) == 0x80);
  w->column++;
}

static void step_break(walker *w) {
  w->at += w->at[0] == '\r' && w->at + 1 < w->end && w->at[1] == '\n' ? 2 : 1;
  w->line++;
  w->column = 1;
}

/** Past a line break with the blanks around it; the number of characters that YAML puts for it. */
static size_t step_fold(walker *w) {
  size_t breaks = 0;
  while (at_blank(w) || at_break(w)) {
    if (at_break(w)) {
      step_break(w);
      breaks++;
    } else {
      step_character(w);
    }
  }
  return breaks > 1 ? breaks - 1 : 1;
}

/** Does a run of blanks at the walker end in a line break? */
static bool folds_here(walker *w) {
  const char *p = w->at;
  if (p < w->straight) return false; /* looked at already: long runs must not cost their square */
  while (p < w->end && (*p == ' ' || *p == '\t')) p++;
  if (p < w->end && (*p == '\n' || *p == '\r')) return true;
  w->straight = p;
  return false;
}

void tree_place_inside(const pcsim_node *node, size_t offset, int *line, int *column) {
  const char *text = node->source->text;
  walker w = {text + node->start, text + node->end, text, node->line, node->column};
  size_t done = 0;
  int indent = 0;
  if (node->style == STYLE_SINGLE || node->style == STYLE_DOUBLE) step_character(&w); /* the quote */
  if (node->style == STYLE_LITERAL || node->style == STYLE_FOLDED) {
    while (w.at < w.end && !at_break(&w)) step_character(&w); /* the line of '|' or '>' */
    if (at_break(&w)) step_break(&w);
    while (at_blank(&w)) step_character(&w);
    indent = w.column;
  }
  while (done < offset && w.at < w.end) {
    size_t produced = 1;
    if (node->style == STYLE_LITERAL && at_break(&w)) {
      step_break(&w);
      while (at_blank(&w) && w.column < indent) step_character(&w);
    } else if (node->style != STYLE_LITERAL && folds_here(&w)) {
      produced = step_fold(&w);
    } else if (node->style == STYLE_DOUBLE && *w.at == '\\' && w.at + 1 < w.end &&
               (w.at[1] == '\n' || w.at[1] == '\r')) {
      step_character(&w); /* an escaped line break stands for nothing */
      step_break(&w);
      while (at_blank(&w)) step_character(&w);
      produced = 0;
    } else if (node->style == STYLE_DOUBLE && *w.at == '\\') {
      size_t raw = escape_size(w.at, w.end, &produced);
      if (raw > (size_t)(w.end - w.at)) break;
      w.at += raw;
      w.column += (int)raw;
    } else {
      const char *before = w.at;
      bool doubled = node->style == STYLE_SINGLE && *w.at == '\'' && w.at + 1 < w.end && w.at[1] == '\'';
      step_character(&w);
      produced = (size_t)(w.at - before);
      if (doubled) step_character(&w);
    }
    done += produced;
  }
  *line = w.line;
  *column = w.column;
}
