/* SPDX-License-Identifier: BSD-2-Clause */
/* From a file to a whole tree: `extends` and merging. */
#include "tree.h"

#include <string.h>
#include <sys/stat.h>

/** The files that lead to the one being read: a circle shows as the same file twice. */
typedef struct chain {
  const struct chain *before;
  const char *path;
  dev_t device;
  ino_t inode;
  int length;
} chain;

static pcsim_status load(pcsim_tree *tree, const char *path, const char *text, size_t size,
                         const char *folder, const chain *before, pcsim_node **root);

/** Cut a path to its folder, in place: "a/b" of "a/b/c", "." of "c", "/" of "/c". */
static void cut_to_folder(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash) strcpy(path, ".");
  else slash[slash == path] = '\0';
}

/** Put `over` on top of `base`: mappings merge, everything else is replaced. */
static pcsim_status merge(pcsim_tree *tree, pcsim_node *base, pcsim_node *over) {
  for (int64_t i = 0; i < over->size; i++) {
    pcsim_node *value = over->children[i];
    int64_t k = tree_find(base, value->key->text);
    if (k < 0) {
      PCSIM_TRY(tree_append(tree, base, value->key, value));
      continue;
    }
    pcsim_node *old = base->children[k];
    if (old->kind == PCSIM_NODE_MAPPING && value->kind == PCSIM_NODE_MAPPING) {
      PCSIM_TRY(merge(tree, old, value));
      /* What is missing now is missing in the file that was written last. */
      old->source = value->source;
      old->line = value->line;
      old->column = value->column;
      old->key = value->key;
    } else {
      value->place = k;
      base->children[k] = value;
      value->parent = base;
    }
    value->key->parent = base;
  }
  return PCSIM_OK;
}

static void remove_child(pcsim_node *mapping, int64_t i) {
  memmove(&mapping->children[i], &mapping->children[i + 1],
          (size_t)(mapping->size - i - 1) * sizeof mapping->children[0]);
  mapping->size--;
  for (int64_t k = i; k < mapping->size; k++) mapping->children[k]->place = k;
}

/** Problem and PCSIM_OK: what cannot be used leaves `*data` NULL. */
static pcsim_status read_extended(pcsim_tree *tree, const pcsim_node *value, const char *path, char **data,
                                  size_t *size) {
  pcsim_status status = pcsim_file_read(path, TREE_MAX_BYTES, data, size);
  if (status != PCSIM_ERR_IO) return status;
  pcsim_tree_problem(tree, value, "%s", pcsim_error_message());
  pcsim_error_clear();
  return PCSIM_OK;
}

/** Names of a circle: "a.yaml -> b.yaml -> a.yaml". */
static void name_circle(const chain *c, const chain *first, char *out, size_t size) {
  if (c != first) name_circle(c->before, first, out, size);
  size_t used = strlen(out);
  if (used + strlen(c->path) + 5 < size) {
    strcpy(out + used, c->path);
    strcat(out, " -> ");
  }
}

/** Is `path` one of the files that lead here? Says so if it is. */
static bool is_circle(pcsim_tree *tree, const pcsim_node *value, const char *path, chain *next) {
  struct stat info;
  if (stat(path, &info)) return false; /* reading it will say why */
  next->device = info.st_dev;
  next->inode = info.st_ino;
  for (const chain *c = next->before; c; c = c->before) {
    if (!c->inode || c->device != next->device || c->inode != next->inode) continue;
    char names[512] = "";
    name_circle(next->before, c, names, sizeof names);
    pcsim_tree_problem(tree, value, "'extends' runs in a circle: %s%s", names, path);
    return true;
  }
  return false;
}

/** Follow `extends` of the file whose root is `*root`; `*root` becomes the merged mapping, or NULL if the
 *  file that is extended cannot be used. */
static pcsim_status extend_from(pcsim_tree *tree, int64_t place, const char *path, const chain *here,
                                pcsim_node **root) {
  pcsim_node *value = (*root)->children[place], *base = NULL;
  chain next = {.before = here, .path = path, .length = here->length + 1};
  char *text = NULL, *folder = NULL;
  size_t size = 0;
  pcsim_status status = PCSIM_OK;
  if (is_circle(tree, value, path, &next)) {
    *root = NULL;
    return PCSIM_OK;
  }
  if (next.length > TREE_MAX_FILES) {
    pcsim_tree_problem(tree, value, "'extends' leads through more than %d files", TREE_MAX_FILES);
    *root = NULL;
    return PCSIM_OK;
  }
  PCSIM_GOTO(read_extended(tree, value, path, &text, &size), status, done);
  if (text) {
    PCSIM_GOTO(pcsim_strdup(path, &folder), status, done);
    cut_to_folder(folder);
    PCSIM_GOTO(load(tree, path, text, size, folder, &next, &base), status, done);
  }
  if (base) {
    remove_child(*root, place);
    PCSIM_GOTO(merge(tree, base, *root), status, done);
    /* Problems of the whole are placed in the case itself. */
    base->source = (*root)->source;
    base->line = (*root)->line;
    base->column = (*root)->column;
  }
  *root = base;
done:
  pcsim_free(&folder);
  pcsim_free(&text);
  return status;
}

static pcsim_status follow_extends(pcsim_tree *tree, const chain *here, pcsim_node **root) {
  int64_t place = tree_find(*root, "extends");
  if (place < 0) return PCSIM_OK;
  pcsim_node *value = (*root)->children[place];
  char *path = NULL, found[128];
  if (value->kind != PCSIM_NODE_SCALAR || !*value->text) {
    pcsim_tree_problem(tree, value, "'extends' must be the path of a case file, found %s",
                       node_found(value, found, sizeof found));
    *root = NULL;
    return PCSIM_OK;
  }
  PCSIM_TRY(pcsim_node_path(value, &path));
  pcsim_status status = extend_from(tree, place, path, here, root);
  pcsim_free(&path);
  return status;
}

/** One file with everything it extends. `*root` stays NULL (with a problem) if it cannot be used. */
static pcsim_status load(pcsim_tree *tree, const char *path, const char *text, size_t size,
                         const char *folder, const chain *here, pcsim_node **root) {
  tree_source *source;
  size_t bom = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
  char found[128];
  *root = NULL;
  PCSIM_TRY(tree_new_source(tree, path, folder, text + bom, size - bom, &source));
  if (!tree->source) tree->source = source;
  size_t before = tree->num_problems;
  pcsim_node *top;
  PCSIM_TRY(tree_scan(tree, source, &top));
  if (!top || node_is_empty(top)) {
    if (tree->num_problems == before)
      tree_problem_at(tree, source, 1, 1, "the file is empty; a case is a mapping that begins 'pcsim: 1'");
    return PCSIM_OK;
  }
  if (top->kind != PCSIM_NODE_MAPPING) {
    tree_problem_at(tree, source, top->line, top->column,
                    "a case is a mapping (lines of 'key: value'), found %s",
                    node_found(top, found, sizeof found));
    return PCSIM_OK;
  }
  PCSIM_TRY(follow_extends(tree, here, &top));
  *root = top;
  return PCSIM_OK;
}

static pcsim_status build(pcsim_tree *tree, const char *text, size_t size, const char *name,
                          const char *folder, const chain *here) {
  PCSIM_TRY(load(tree, name, text, size, folder, here, &tree->root));
  if (!tree->root) {
    PCSIM_TRY(tree_report(tree));
    PCSIM_FAIL(PCSIM_ERR_INTERNAL, "the case '%s' gave neither values nor problems", name);
  }
  return tree_evaluate_parameters(tree);
}

static pcsim_status new_tree(const char *text, size_t size, const char *name, const char *folder,
                             const chain *here, pcsim_tree **tree) {
  PCSIM_TRY(pcsim_alloc(1, sizeof **tree, tree));
  pcsim_status status;
  PCSIM_GOTO(build(*tree, text, size, name, folder, here), status, failed);
  return PCSIM_OK;
failed:
  pcsim_tree_destroy(tree);
  return status;
}

pcsim_status pcsim_tree_parse(const char *text, size_t size, const char *name, pcsim_tree **tree) {
  *tree = NULL;
  PCSIM_CHECK(text || !size, PCSIM_ERR_ARG, "no text to parse");
  PCSIM_CHECK(size <= TREE_MAX_BYTES, PCSIM_ERR_CASE,
              "%s:1:1: the text has more than %d bytes; put tables into files of their own", name,
              TREE_MAX_BYTES);
  chain here = {.path = name, .length = 1};
  return new_tree(text ? text : "", size, name, ".", &here, tree);
}

pcsim_status pcsim_tree_read(const char *path, pcsim_tree **tree) {
  char *text = NULL, *folder = NULL;
  size_t size = 0;
  struct stat info;
  chain here = {.path = path, .length = 1};
  pcsim_status status = PCSIM_OK;
  *tree = NULL;
  PCSIM_CHECK(path && *path, PCSIM_ERR_ARG, "the case file has no name");
  PCSIM_GOTO(pcsim_file_read(path, 0, &text, &size), status, done);
  if (size > TREE_MAX_BYTES) {
    status = pcsim_error_set(PCSIM_ERR_CASE, __FILE__, __LINE__, __func__,
                             "%s:1:1: the file has more than %d bytes; put tables into files of their own",
                             path, TREE_MAX_BYTES);
    goto done;
  }
  if (stat(path, &info) == 0) {
    here.device = info.st_dev;
    here.inode = info.st_ino;
  }
  PCSIM_GOTO(pcsim_strdup(path, &folder), status, done);
  cut_to_folder(folder);
  PCSIM_GOTO(new_tree(text, size, path, folder, &here, tree), status, done);
done:
  pcsim_free(&folder);
  pcsim_free(&text);
  return status;
}
