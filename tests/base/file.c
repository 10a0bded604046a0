/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files or none: what is left behind when writing fails. */
#include "pcsim_test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static char path[400];

static const char *in_folder(const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static int count_entries(const char *of) {
  int n = 0;
  DIR *dir = opendir(of);
  assert_non_null(dir);
  for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
  closedir(dir);
  return n;
}

static void expect_content(const char *name, const char *text) {
  char *data;
  size_t size;
  assert_ok(pcsim_file_read(name, 0, &data, &size));
  assert_int_equal(size, strlen(text));
  assert_string_equal(data, text);
  pcsim_free(&data);
}

static void expect_io(pcsim_status status, const char *message) {
  assert_int_equal(status, PCSIM_ERR_IO);
  assert_string_equal(pcsim_error_message(), message);
  pcsim_error_clear();
}

static void test_write_and_read(void **state) {
  (void)state;
  const char *name = in_folder("a.txt");
  assert_ok(pcsim_file_write(name, "first", 5));
  expect_content(name, "first");
  assert_ok(pcsim_file_write(name, "second one", 10));
  expect_content(name, "second one");
  assert_ok(pcsim_file_write(name, "", 0));
  expect_content(name, "");
  assert_true(pcsim_file_exists(name));
  assert_false(pcsim_file_exists("/nowhere/a"));
  struct stat info;
  mode_t mask = umask(022);
  umask(mask);
  assert_int_equal(stat(name, &info), 0);
  assert_int_equal(info.st_mode & 0777, 0666 & ~mask); /* like any other file, not private */
  assert_int_equal(count_entries(folder), 1);
}

static void test_link_stays(void **state) {
  (void)state;
  char link[400];
  struct stat info;
  snprintf(link, sizeof link, "%s/link", folder);
  assert_ok(pcsim_file_write(in_folder("target"), "old", 3));
  assert_int_equal(symlink("target", link), 0);
  assert_ok(pcsim_file_write(link, "new", 3));
  assert_int_equal(lstat(link, &info), 0);
  assert_true(S_ISLNK(info.st_mode));
  expect_content(in_folder("target"), "new");
}

static void test_big_file(void **state) {
  (void)state;
  size_t size = (size_t)9 << 20, got;
  char *data = malloc(size), *read;
  for (size_t i = 0; i < size; i++) data[i] = (char)(i * 2654435761u >> 24);
  assert_ok(pcsim_file_write(in_folder("big"), data, size));
  assert_ok(pcsim_file_read(path, 0, &read, &got));
  assert_int_equal(got, size);
  assert_memory_equal(data, read, size);
  pcsim_free(&read);
  assert_status(pcsim_file_read(path, 1 << 20, &read, &got), PCSIM_ERR_IO);
  assert_non_null(strstr(pcsim_error_message(), "its 9437184 bytes are more than the 1048576 allowed"));
  assert_null(read);
  free(data);
  unlink(path);
}

static void test_unreadable(void **state) {
  (void)state;
  char *data, fifo[400], expected[600];
  expect_io(pcsim_file_read("/nowhere/x", 0, &data, NULL),
            "cannot read '/nowhere/x': No such file or directory");
  expect_io(pcsim_file_read("/", 0, &data, NULL), "cannot read '/': it is a folder");
  expect_io(pcsim_file_read("/dev/zero", 0, &data, NULL),
            "cannot read '/dev/zero': it is not a regular file");
  snprintf(fifo, sizeof fifo, "%s/fifo", folder);
  assert_int_equal(mkfifo(fifo, 0600), 0);
  snprintf(expected, sizeof expected, "cannot read '%s': it is not a regular file", fifo);
  expect_io(pcsim_file_read(fifo, 0, &data, NULL), expected); /* and does not wait for a writer */
  unlink(fifo);
  assert_ok(pcsim_file_read("/proc/self/status", 0, &data, NULL)); /* says size 0 */
  assert_non_null(strstr(data, "VmHWM"));
  pcsim_free(&data);
}

static void test_unwritable_places(void **state) {
  (void)state;
  char expected[900], below[500];
  expect_io(pcsim_file_write("/nowhere/at/all", "x", 1),
            "cannot write '/nowhere/at/all': No such file or directory");
  expect_io(pcsim_file_write("/", "x", 1), "cannot write '/': it is a folder");
  expect_io(pcsim_file_write("/dev/null", "x", 1), "cannot write '/dev/null': it is not a regular file");
  assert_ok(pcsim_file_write(in_folder("a.txt"), "x", 1));
  snprintf(below, sizeof below, "%s/b", path);
  snprintf(expected, sizeof expected, "cannot write '%s': Not a directory", below);
  expect_io(pcsim_file_write(below, "x", 1), expected);
  assert_status(pcsim_file_write("/proc/self/new", "x", 1),
                PCSIM_ERR_IO); /* no folder to write into, root or not */
  assert_non_null(strstr(pcsim_error_message(), "cannot write '/proc/self/new': "));
  if (geteuid() != 0) { /* root writes everywhere */
    assert_int_equal(chmod(folder, 0500), 0);
    snprintf(expected, sizeof expected, "cannot write '%s/new': Permission denied", folder);
    expect_io(pcsim_file_write(in_folder("new"), "x", 1), expected);
    assert_int_equal(chmod(folder, 0700), 0);
  }
  pcsim_error_clear();
}

/* A write that breaks off in the middle: the old file stays, nothing else does. */
static void test_size_limit(void **state) {
  (void)state;
  struct rlimit limit, small;
  char expected[600];
  static char data[100000];
  memset(data, 'y', sizeof data);
  int before = count_entries(folder);
  assert_ok(pcsim_file_write(in_folder("a.txt"), "old", 3));
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  small = (struct rlimit){10000, limit.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  pcsim_status status = pcsim_file_write(path, data, sizeof data);
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, SIG_DFL);
  snprintf(expected, sizeof expected, "cannot write '%s': File too large", path);
  expect_io(status, expected);
  expect_content(path, "old");
  assert_int_equal(count_entries(folder), before);
}

static void test_full_and_read_only_disk(void **state) {
  (void)state;
  char disk[200], name[300], expected[700];
  static char data[1 << 20];
  snprintf(disk, sizeof disk, "%s/disk", folder);
  assert_int_equal(mkdir(disk, 0700), 0);
  if (mount("none", disk, "tmpfs", 0, "size=64k")) {
    print_message("no small disk can be mounted here (%s): left out\n", strerror(errno));
    rmdir(disk);
    skip();
  }
  snprintf(name, sizeof name, "%s/a", disk);
  bool written = pcsim_file_write(name, "old", 3) == PCSIM_OK;
  pcsim_status full = pcsim_file_write(name, data, sizeof data);
  char full_message[700], locked_message[700];
  snprintf(full_message, sizeof full_message, "%s", pcsim_error_message());
  int entries = count_entries(disk);
  bool locked = mount("none", disk, "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") == 0;
  pcsim_status read_only = pcsim_file_write(name, "new", 3);
  snprintf(locked_message, sizeof locked_message, "%s", pcsim_error_message());
  char *content = NULL;
  pcsim_status readable = pcsim_file_read(name, 0, &content, NULL);
  umount2(disk, MNT_DETACH); /* before anything can fail */
  rmdir(disk);
  assert_true(written);
  assert_int_equal(full, PCSIM_ERR_IO);
  snprintf(expected, sizeof expected, "cannot write '%s': No space left on device", name);
  assert_string_equal(full_message, expected);
  assert_int_equal(entries, 1);
  assert_int_equal(readable, PCSIM_OK);
  assert_string_equal(content, "old");
  pcsim_free(&content);
  if (locked) {
    assert_int_equal(read_only, PCSIM_ERR_IO);
    snprintf(expected, sizeof expected, "cannot write '%s': Read-only file system", name);
    assert_string_equal(locked_message, expected);
  }
  pcsim_error_clear();
}

static void test_folders(void **state) {
  (void)state;
  char expected[700];
  assert_ok(pcsim_folder_make(in_folder("x/y//z/")));
  assert_true(pcsim_file_exists(in_folder("x/y/z")));
  assert_ok(pcsim_folder_make(in_folder("x/y/z")));
  assert_ok(pcsim_folder_make("/"));
  assert_ok(pcsim_file_write(in_folder("x/file"), "", 0));
  snprintf(expected, sizeof expected, "cannot make the folder '%s': a file of that name is in the way", path);
  expect_io(pcsim_folder_make(path), expected);
  expect_io(pcsim_folder_make(in_folder("x/file/below")), expected);
  assert_status(pcsim_folder_make("/proc/new"), PCSIM_ERR_IO);
  assert_status(pcsim_folder_make(""), PCSIM_ERR_ARG);
  pcsim_error_clear();
}

static void test_join(void **state) {
  (void)state;
  static const char *const cases[][3] = {
      {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"/", "b", "/b"}, {".", "b", "b"},
      {"", "b", "b"},    {"a", "/b", "/b"},  {NULL, "b", "b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *joined;
    assert_ok(pcsim_path_join(cases[i][0], cases[i][1], &joined));
    assert_string_equal(joined, cases[i][2]);
    pcsim_free(&joined);
  }
}

static int make_folder(void **state) {
  (void)state;
  strcpy(folder, "/tmp/pcsim-file-XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[100];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command);
}

static int run(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_write_and_read),
      cmocka_unit_test(test_link_stays),
      cmocka_unit_test(test_big_file),
      cmocka_unit_test(test_unreadable),
      cmocka_unit_test(test_unwritable_places),
      cmocka_unit_test(test_size_limit),
      cmocka_unit_test(test_full_and_read_only_disk),
      cmocka_unit_test(test_folders),
      cmocka_unit_test(test_join),
  };
  size_t before = pcsim_memory_used();
  int failed = cmocka_run_group_tests(tests, make_folder, remove_folder);
  if (!failed && pcsim_memory_used() != before) {
    print_error("%zu bytes are still held\n", pcsim_memory_used() - before);
    return 1;
  }
  return failed;
}

/* Without MPI, whose own leaks would hide ours from the sanitizer. */
int main(void) { return run() != 0; }
