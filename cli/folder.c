/* SPDX-License-Identifier: BSD-2-Clause */
/** @file folder.c  The run folder: whose it is, what may be overwritten, what is left from before. */
#include "cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* First line of case.yaml. It marks the folder as a run of pcsim and holds the hash of the case. */
static const char mark[] = "# pcsim run: the case with every default written out; case ";

pcsim_status cli_folder_default(const char *case_path, char **folder) {
  const char *base = strrchr(case_path, '/');
  base = base ? base + 1 : case_path;
  const char *dot = strrchr(base, '.');
  size_t length = dot && dot != base ? (size_t)(dot - base) : strlen(base);
  PCSIM_CHECK(length > 0, PCSIM_ERR_CASE, "'%s' is not a case file; -o DIR names the run folder", case_path);
  PCSIM_TRY(pcsim_alloc(length + 6, 1, folder));
  snprintf(*folder, length + 6, "runs/%.*s", (int)length, base);
  return PCSIM_OK;
}

pcsim_status cli_folder_parent(const char *folder) {
  struct stat info;
  char *parent = NULL;
  PCSIM_TRY(pcsim_strdup(folder, &parent));
  size_t n = strlen(parent);
  while (n > 1 && parent[n - 1] == '/') n--;
  while (n > 0 && parent[n - 1] != '/') n--;
  while (n > 1 && parent[n - 1] == '/') n--;
  parent[n] = '\0';
  bool there = n == 0 || !strcmp(parent, "runs") || stat(parent, &info) == 0;
  pcsim_status status = PCSIM_OK;
  if (!there)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__,
                             "%s: cannot be made, because there is no folder %s: %s", folder, parent,
                             strerror(errno));
  pcsim_free(&parent);
  return status;
}

pcsim_status cli_folder_write_case(const char *folder, const char *first, const char *text) {
  char hash[65], *path = NULL, *whole = NULL;
  pcsim_status status = PCSIM_OK;
  size_t size = sizeof mark + 65 + strlen(text) + 1;
  cli_hash(first, strlen(first), NULL, 0, hash);
  PCSIM_GOTO(pcsim_path_join(folder, "case.yaml", &path), status, done);
  PCSIM_GOTO(pcsim_alloc(size, 1, &whole), status, done);
  snprintf(whole, size, "%s%s\n%s", mark, hash, text);
  PCSIM_GOTO(pcsim_file_write(path, whole, strlen(whole)), status, done);
done:
  pcsim_free(&whole);
  pcsim_free(&path);
  return status;
}

/* Hash in the first line of case.yaml; "" where there is none. `*there`: a case.yaml exists. */
static pcsim_status read_mark(const char *folder, char hash[65], bool *there) {
  char *path = NULL, line[sizeof mark + 80] = "";
  hash[0] = '\0';
  PCSIM_TRY(pcsim_path_join(folder, "case.yaml", &path));
  FILE *file = fopen(path, "r");
  *there = file || errno != ENOENT;
  pcsim_free(&path);
  if (!file) return PCSIM_OK;
  if (fgets(line, sizeof line, file) && !strncmp(line, mark, sizeof mark - 1) &&
      strspn(line + sizeof mark - 1, "0123456789abcdef") == 64)
    snprintf(hash, 65, "%.64s", line + sizeof mark - 1);
  fclose(file);
  return PCSIM_OK;
}

pcsim_status cli_folder_hash(const char *folder, char hash[65]) {
  bool there;
  struct stat info;
  PCSIM_CHECK(stat(folder, &info) == 0, PCSIM_ERR_CASE, "%s: no such run folder", folder);
  PCSIM_CHECK(S_ISDIR(info.st_mode), PCSIM_ERR_CASE, "%s is not a folder; expected that of a run", folder);
  PCSIM_TRY(read_mark(folder, hash, &there));
  PCSIM_CHECK(hash[0], PCSIM_ERR_CASE, "%s is not the folder of a pcsim run (no case.yaml of one in it)",
              folder);
  return PCSIM_OK;
}

/* A folder of a study's coarser runs, or of the coarser meshes that a start comes from. */
static bool is_subfolder(const char *name) {
  const size_t n = strlen(name);
  return (!strncmp(name, "study-", 6) || !strncmp(name, "start-", 6)) &&
         strspn(name + 6, "0123456789") == n - 6 && n > 6;
}

/* A name that a run writes. Half-written files of a killed run start with a dot and end with .tmp. */
static bool is_ours(const char *name) {
  static const char *const whole[] = {
      "case.yaml",           "summary.json", "history.csv",   "fields.hdf",    "fields.hdf.series",
      "surface.hdf",         "report.html",  "checkpoint.h5", "log.txt",       "mesh.raw",
      "speed.png",           "pressure.png", "mesh.png",      "mesh-zoom.png", "mesh.raw.spec",
      "checkpoint.training", "model.h5"};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (!strcmp(name, whole[i])) return true;
  size_t n = strlen(name);
  if (!strncmp(name, "field-", 6) && n > 10 && !strcmp(name + n - 4, ".png")) return true;
  if (n > 4 && !strncmp(name, ".pcsim-", 7) && !strcmp(name + n - 4, ".tmp")) return true;
  if (!strncmp(name, "fields-", 7) && strspn(name + 7, "0123456789") == n - 11 && n > 11)
    return !strcmp(name + n - 4, ".hdf");
  return is_subfolder(name);
}

/* What only a run that was killed leaves behind. */
static bool is_half(const char *name) { return name[0] == '.' || !strcmp(name, "mesh.raw.spec"); }

typedef struct {
  bool exists, foreign;
  int entries;
  char example[256]; /* of a foreign file */
} listing;

static pcsim_status look(const char *folder, listing *l) {
  *l = (listing){0};
  DIR *dir = opendir(folder);
  if (!dir && errno == ENOENT) return PCSIM_OK;
  PCSIM_CHECK(dir, PCSIM_ERR_IO, "%s: cannot be opened as a folder: %s", folder, strerror(errno));
  l->exists = true;
  for (struct dirent *e; (e = readdir(dir));) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
    l->entries++;
    if (is_ours(e->d_name)) continue;
    if (!l->foreign) snprintf(l->example, sizeof l->example, "%s", e->d_name);
    l->foreign = true;
  }
  closedir(dir);
  return PCSIM_OK;
}

/* Remove what a run writes, `half` only its half-written files; nothing else is touched. The summary goes
 * first and the mark last: at no moment does a rest look like a finished run, or like a folder that is not
 * ours. */
static pcsim_status clear(const char *folder, bool half) {
  DIR *dir = opendir(folder);
  PCSIM_CHECK(dir, PCSIM_ERR_IO, "%s: cannot be opened as a folder: %s", folder, strerror(errno));
  pcsim_status status = PCSIM_OK;
  char path[4200];
  snprintf(path, sizeof path, "%s/summary.json", folder);
  if (!half && unlink(path) != 0 && errno != ENOENT)
    status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "%s: cannot be removed: %s", path,
                             strerror(errno));
  for (struct dirent *e; status == PCSIM_OK && (e = readdir(dir));) {
    if (!is_ours(e->d_name) || !strcmp(e->d_name, "case.yaml") || (half && !is_half(e->d_name))) continue;
    snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    bool subfolder = is_subfolder(e->d_name);
    if (subfolder) {
      status = clear(path, false);
      if (status == PCSIM_OK) {
        char marked[4300];
        snprintf(marked, sizeof marked, "%s/case.yaml", path);
        unlink(marked);
      }
    }
    if (status == PCSIM_OK && (subfolder ? rmdir(path) : unlink(path)) != 0 && errno != ENOENT)
      status = pcsim_error_set(PCSIM_ERR_IO, __FILE__, __LINE__, __func__, "%s: cannot be removed: %s", path,
                               strerror(errno));
  }
  closedir(dir);
  return status;
}

/* The system says what a folder allows best when it is used. */
static pcsim_status try_writing(const char *folder) {
  char path[4200];
  snprintf(path, sizeof path, "%s/.pcsim-%ld-try.tmp", folder, (long)getpid());
  PCSIM_TRY(pcsim_file_write(path, "", 0));
  unlink(path);
  return PCSIM_OK;
}

static pcsim_status begin(const char *folder, const char *text, bool clear_first) {
  PCSIM_TRY(pcsim_folder_make(folder));
  PCSIM_TRY(try_writing(folder));
  if (clear_first) PCSIM_TRY(clear(folder, false));
  return cli_folder_write_case(folder, text, text);
}

/* A run that ended at its limit of steps can be given more; one that converged or diverged is finished for
 * good. */
static pcsim_status can_go_on(const char *folder, bool *finished) {
  pcsim_report *summary = NULL;
  PCSIM_TRY(cli_summary_read(folder, &summary));
  *finished = strcmp(summary->status, "not-converged") != 0;
  pcsim_summary_free(&summary);
  return PCSIM_OK;
}

pcsim_status cli_folder_prepare(const char *folder, const cli_folder_rules *rules, const char *text,
                                cli_folder_state *state) {
  listing l;
  char hash[65], now[65], summary[4200];
  bool there = false;
  *state = CLI_FOLDER_FRESH;
  PCSIM_TRY(look(folder, &l));
  if (l.entries == 0) return begin(folder, text, false);
  PCSIM_TRY(read_mark(folder, hash, &there));
  /* A case.yaml that pcsim did not write may be the user's only copy. */
  PCSIM_CHECK(
      !there || hash[0], PCSIM_ERR_CASE,
      "%s holds a case.yaml that is not of a run and is never overwritten; -o DIR names another folder",
      folder);
  if (!hash[0]) {
    /* Only half-written files: a run that was killed before it had written its case. */
    if (!l.foreign && !rules->force) return begin(folder, text, true);
    PCSIM_CHECK(rules->force, PCSIM_ERR_CASE,
                "%s is not the folder of a pcsim run (there is '%s' in it); --force writes into it all the "
                "same, -o DIR "
                "names another",
                folder, l.foreign ? l.example : "case.yaml");
    return begin(folder, text, true);
  }
  if (rules->force) return begin(folder, text, true);
  snprintf(summary, sizeof summary, "%s/summary.json", folder);
  bool finished = pcsim_file_exists(summary);
  PCSIM_CHECK(rules->resume || !finished, PCSIM_ERR_CASE,
              "%s holds a finished run; --force replaces it, -o DIR names another folder", folder);
  PCSIM_CHECK(rules->resume, PCSIM_ERR_CASE,
              "%s holds an unfinished run; --resume goes on with it, --force starts again, -o DIR names "
              "another folder",
              folder);
  cli_hash(text, strlen(text), NULL, 0, now);
  PCSIM_CHECK(!strcmp(hash, now), PCSIM_ERR_CASE,
              "the case is not the one that the run in %s began with (%s/case.yaml); --force starts again",
              folder, folder);
  if (finished) PCSIM_TRY(can_go_on(folder, &finished));
  *state = finished ? CLI_FOLDER_FINISHED : CLI_FOLDER_UNFINISHED;
  if (finished) return PCSIM_OK;
  PCSIM_TRY(try_writing(folder));
  if (unlink(summary) != 0 && errno != ENOENT)
    PCSIM_FAIL(PCSIM_ERR_IO, "%s: cannot be removed: %s", summary, strerror(errno));
  return clear(folder, true);
}

/* ------------------------------------------------------------- temporary */

void cli_temporary_remove(char **folder) {
  if (!*folder) return;
  DIR *dir = opendir(*folder);
  if (dir) {
    for (struct dirent *e; (e = readdir(dir));) {
      char path[4200];
      snprintf(path, sizeof path, "%s/%s", *folder, e->d_name);
      if (e->d_name[0] != '.' || !strncmp(e->d_name, ".pcsim-", 7)) unlink(path);
    }
    closedir(dir);
  }
  rmdir(*folder);
  pcsim_free(folder);
}
