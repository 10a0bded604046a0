/* SPDX-License-Identifier: BSD-2-Clause */
/* Gmsh and its libraries keep memory until the process ends: no leak check in builds with sanitizers. The
 * function is called by the sanitizer's run-time only, and unused without it. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
