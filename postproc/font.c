/* SPDX-License-Identifier: BSD-2-Clause */
/* Letters as strokes of one width with round ends, on a grid where a capital is 20 high, a small letter 14,
 * the base line 0. Path commands: `m x y` move, `l x y` line, `a cx cy rx ry from to` elliptical arc in
 * degrees (anticlockwise when to > from), joined to what was drawn before. */
#include "draw.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t code;
  double width; /* ink; SPACING is added on the right */
  const char *path;
} glyph;

static const double SPACING = 5, STROKE = 2.5, HEIGHT = 20;

#define BOWL "a 5.4 7 5.4 7 180 -180"
static const glyph glyphs[] = {
    {' ', 3.5, ""},
    {'!', 0, "m 0 20 l 0 6.5 m 0 0.3 l 0 0.5"},
    {'"', 5, "m 0 20 l 0 14.5 m 5 20 l 5 14.5"},
    {'#', 14, "m 3 0 l 5.5 20 m 9 0 l 11.5 20 m 0.5 6.5 l 13 6.5 m 1.5 13.5 l 14 13.5"},
    {'$', 12.5, "a 6.2 14.3 5.6 4.3 30 270 a 6.2 5.8 6 4.2 90 -150 m 6.2 22 l 6.2 -2"},
    {'%', 18, "a 4 15.5 4 4.5 0 360 m 14.5 20 l 3.5 0 m 18 4.5 a 14 4.5 4 4.5 0 360"},
    {'&', 15,
     "m 15 0 l 3.8 13.2 a 6.6 15.6 4 4.4 215 -40 l 3 8.6 a 5.6 4.8 5.6 4.8 130 300 a 7.5 8 7 7.9 300 360"},
    {'\'', 0, "m 0 20 l 0 14.5"},
    {'(', 5, "a 12 8 12 15 125 235"},
    {')', 5, "a -7 8 12 15 55 -55"},
    {'*', 9, "m 4.5 20 l 4.5 11 m 0.6 17.8 l 8.4 13.2 m 0.6 13.2 l 8.4 17.8"},
    {'+', 12, "m 0 9 l 12 9 m 6 3 l 6 15"},
    {',', 1.2, "m 1 0.6 l -0.2 -3.6"},
    {'-', 7, "m 0 8 l 7 8"},
    {'.', 0.4, "m 0 0.3 l 0.4 0.3"},
    {'/', 9, "m 0 -2 l 9 21"},
    {'0', 11.5, "a 5.75 10 5.75 10 0 360"},
    {'1', 11.5, "m 2 16 l 6.8 20 l 6.8 0"},
    {'2', 11.5, "a 5.7 14.4 5.3 5.6 165 -38 l 0.2 0 l 11.5 0"},
    {'3', 11.5, "a 5.4 15.2 4.9 4.8 155 -90 m 3.8 10.4 l 5.4 10.4 a 5.4 5.2 5.9 5.2 90 -155"},
    {'4', 11.5, "m 9 0 l 9 20 l 0 5 l 11.8 5"},
    {'5', 11.5, "m 10.4 20 l 2 20 l 1 10.8 a 5.4 6.3 6 6.3 137 -150"},
    {'6', 11.5, "a 5.75 6.3 5.75 6.3 180 540 m 0 6.3 a 11 6.3 11 13.9 180 102"},
    {'7', 11.5, "m 0 20 l 11.5 20 l 4.2 0"},
    {'8', 11.5, "a 5.75 15.2 4.8 4.8 0 360 m 11.5 5.2 a 5.75 5.2 5.75 5.2 0 360"},
    {'9', 11.5, "a 5.75 13.7 5.75 6.3 0 360 m 11.5 13.7 a 0.5 13.7 11 13.9 0 -78"},
    {':', 0.4, "m 0 0.3 l 0.4 0.3 m 0 11.5 l 0.4 11.5"},
    {';', 1.2, "m 1 0.6 l -0.2 -3.6 m 0.6 11.5 l 1 11.5"},
    {'<', 11, "m 11 15 l 0 9 l 11 3"},
    {'=', 12, "m 0 6 l 12 6 m 0 12 l 12 12"},
    {'>', 11, "m 0 15 l 11 9 l 0 3"},
    {'?', 9.5, "a 4.7 15 4.7 5 165 -60 l 4.7 8.5 l 4.7 6 m 4.7 0.3 l 4.7 0.5"},
    {'@', 18, "m 12.5 13 l 12.5 8 a 14.9 8 2.6 2.8 180 360 a 9 8 8.5 10 0 310 m 12.5 9 a 9 9 3.5 4 0 360"},
    {'A', 16, "m 0 0 l 8 20 l 16 0 m 2.8 7 l 13.2 7"},
    {'B', 13,
     "m 0 0 l 0 20 l 7.5 20 a 7.5 15.25 4.75 4.75 90 -90 l 0 10.5 m 7 10.5 a 7.5 5.25 5.5 5.25 90 -90 l 0 0"},
    {'C', 15.5, "a 9.2 10 9.2 10 47 313"},
    {'D', 15, "m 0 0 l 0 20 l 5.5 20 a 5.5 10 9.5 10 90 -90 l 0 0"},
    {'E', 11, "m 11 20 l 0 20 l 0 0 l 11 0 m 0 10.5 l 9.5 10.5"},
    {'F', 11, "m 11 20 l 0 20 l 0 0 m 0 10.5 l 9 10.5"},
    {'G', 17, "a 8.9 10 8.9 10 47 352 l 17.7 9.6 l 10.5 9.6"},
    {'H', 14, "m 0 0 l 0 20 m 14 0 l 14 20 m 0 10.5 l 14 10.5"},
    {'I', 0, "m 0 0 l 0 20"},
    {'J', 9, "m 9 20 l 9 5.5 a 4.6 5.5 4.4 5.5 0 -165"},
    {'K', 13, "m 0 0 l 0 20 m 12.5 20 l 0 7.5 m 4.5 12 l 13 0"},
    {'L', 10.5, "m 0 20 l 0 0 l 10.5 0"},
    {'M', 17, "m 0 0 l 0 20 l 8.5 5 l 17 20 l 17 0"},
    {'N', 14, "m 0 0 l 0 20 l 14 0 l 14 20"},
    {'O', 18, "a 9 10 9 10 0 360"},
    {'P', 12.5, "m 0 0 l 0 20 l 7 20 a 7 14.5 5.5 5.5 90 -90 l 0 9"},
    {'Q', 18, "a 9 10 9 10 0 360 m 11 5.5 l 17.5 -1"},
    {'R', 13, "m 0 0 l 0 20 l 7 20 a 7 14.5 5.5 5.5 90 -90 l 0 9 m 6.8 9 l 13 0"},
    {'S', 12.5, "a 6.2 15 5.6 5 30 270 a 6.2 5 6 5 90 -150"},
    {'T', 14, "m 0 20 l 14 20 m 7 20 l 7 0"},
    {'U', 14, "m 0 20 l 0 7 a 7 7 7 7 180 360 l 14 20"},
    {'V', 15, "m 0 20 l 7.5 0 l 15 20"},
    {'W', 22, "m 0 20 l 5.5 0 l 11 20 l 16.5 0 l 22 20"},
    {'X', 14, "m 0 0 l 14 20 m 0 20 l 14 0"},
    {'Y', 14, "m 0 20 l 7 10 l 14 20 m 7 10 l 7 0"},
    {'Z', 13, "m 0 20 l 13 20 l 0 0 l 13 0"},
    {'[', 5, "m 5 22 l 0 22 l 0 -5 l 5 -5"},
    {'\\', 9, "m 0 21 l 9 -2"},
    {']', 5, "m 0 22 l 5 22 l 5 -5 l 0 -5"},
    {'^', 10, "m 0 13 l 5 20 l 10 13"},
    {'_', 12, "m 0 -4 l 12 -4"},
    {'`', 4, "m 0 20 l 4 16"},
    {'a', 10,
     "m 0.8 11.2 a 5.2 9.2 4.8 4.8 152 0 l 10 0 m 10 8.1 l 4.6 8.1 a 4.4 4.05 4.4 4.05 90 270 a 4.4 5.2 5.6 "
     "5.2 270 345"},
    {'b', 10.8, "m 0 20 l 0 0 m 0 7 " BOWL},
    {'c', 9.4, "a 5.4 7 5.4 7 48 312"},
    {'d', 10.8, "m 10.8 20 l 10.8 0 m 0 7 " BOWL},
    {'e', 10.8, "m 0.1 7.2 l 10.8 7.2 a 5.4 7 5.4 7 0 312"},
    {'f', 6.6, "m 7 19.8 a 6.6 16 3.6 4 80 180 l 3 0 m 0 13.8 l 6.4 13.8"},
    {'g', 10.8, "m 10.8 14 l 10.8 -1 a 5.4 -1 5.4 5 0 -155 m 0 7 " BOWL},
    {'h', 10, "m 0 20 l 0 0 m 0 8.8 a 5 8.8 5 5.2 180 0 l 10 0"},
    {'i', 0, "m 0 14 l 0 0 m 0 19.2 l 0 19.4"},
    {'j', 3, "m 3 14 l 3 -2.6 a -0.4 -2.6 3.4 3.4 0 -85 m 3 19.2 l 3 19.4"},
    {'k', 9.5, "m 0 20 l 0 0 m 9 14 l 0 5.2 m 3.7 8.8 l 9.6 0"},
    {'l', 0, "m 0 20 l 0 0"},
    {'m', 17,
     "m 0 14 l 0 0 m 0 9.4 a 4.25 9.4 4.25 4.6 180 0 l 8.5 0 m 8.5 9.4 a 12.75 9.4 4.25 4.6 180 0 l 17 0"},
    {'n', 10, "m 0 14 l 0 0 m 0 8.8 a 5 8.8 5 5.2 180 0 l 10 0"},
    {'o', 10.8, "a 5.4 7 5.4 7 0 360"},
    {'p', 10.8, "m 0 14 l 0 -6 m 0 7 " BOWL},
    {'q', 10.8, "m 10.8 14 l 10.8 -6 m 0 7 " BOWL},
    {'r', 5.8, "m 0 14 l 0 0 m 0 8.5 a 5.5 8.5 5.5 5.5 180 84"},
    {'s', 8.6, "a 4.4 10.5 3.9 3.5 32 270 a 4.3 3.5 4.3 3.5 90 -150"},
    {'t', 6.4, "m 3 18.5 l 3 3.8 a 6.6 3.8 3.6 3.8 180 268 m 0 13.8 l 6.4 13.8"},
    {'u', 10, "m 0 14 l 0 5.2 a 5 5.2 5 5.2 180 360 m 10 14 l 10 0"},
    {'v', 10, "m 0 14 l 5 0 l 10 14"},
    {'w', 15.5, "m 0 14 l 4 0 l 7.75 14 l 11.5 0 l 15.5 14"},
    {'x', 9.5, "m 0 0 l 9.5 14 m 0 14 l 9.5 0"},
    {'y', 10.2, "m 0 14 l 5.1 0 m 10.2 14 l 2.9 -6"},
    {'z', 9, "m 0 14 l 9 14 l 0 0 l 9 0"},
    {'{', 6, "m 6 22 a 6 19 3 3 90 180 l 3 12 a 0 12 3 3.5 0 -90 a 0 5 3 3.5 90 0 l 3 -2 a 6 -2 3 3 180 270"},
    {'|', 0, "m 0 22 l 0 -5"},
    {'}', 6, "m 0 22 a 0 19 3 3 90 0 l 3 12 a 6 12 3 3.5 180 270 a 6 5 3 3.5 90 180 l 3 -2 a 0 -2 3 3 0 -90"},
    {'~', 12, "a 3 8 3 2.5 190 20 a 9 9.5 3 2.5 200 370"},
    {0xB0, 6, "a 3 17 3 3 0 360"},                                            /* degree */
    {0xB1, 12, "m 0 10.5 l 12 10.5 m 6 5 l 6 16 m 0 1 l 12 1"},               /* plus-minus */
    {0xB5, 10, "m 0 14 l 0 -6 m 0 5.2 a 5 5.2 5 5.2 180 360 m 10 14 l 10 0"}, /* micro */
    {0xB7, 0.4, "m 0 8.5 l 0.4 8.5"},                                         /* middle dot */
    {0xD7, 10, "m 0.5 4 l 9.5 14 m 0.5 14 l 9.5 4"},                          /* times */
    {0x394, 16, "m 0 0 l 8 20 l 16 0 l 0 0"},
    {0x3B1, 11.5, "m 11.5 14 l 9.5 5 a 11.6 2.6 2.2 2.6 180 270 m 10.4 8 a 5 7 5 7 20 350"},
    {0x3B5, 8.6, "a 4.6 10.6 3.9 3.4 40 270 m 6 7.2 l 4.6 7.2 a 4.6 3.6 4.6 3.6 90 320"},
    {0x3B8, 9.5, "a 4.75 10 4.75 10 0 360 m 0 10 l 9.5 10"},
    {0x3BC, 10, "m 0 14 l 0 -6 m 0 5.2 a 5 5.2 5 5.2 180 360 m 10 14 l 10 0"},
    {0x3BD, 10, "m 0 14 l 5 0 l 10 14"},
    {0x3C0, 12, "m 0 14 l 12 14 m 3.2 14 l 3.2 0 m 8.8 14 l 8.8 0"},
    {0x3C1, 10.8, "m 0 7 l 0 -6 m 0 7 " BOWL},
    {0x3C3, 12, "a 5.4 7 5.4 7 90 450 l 12 14"},
    {0x3C4, 10, "m 0 14 l 10 14 m 5 14 l 5 0"},
    {0x3C6, 12, "a 6 7 6 7 0 360 m 6 18 l 6 -5"},
    {0x3C9, 15, "a 4 6 4 6 130 360 a 11.5 6 3.75 6 180 410"},
    {0x2013, 10, "m 0 8 l 10 8"},
    {0x2014, 18, "m 0 8 l 18 8"},
    {0x2019, 1, "m 1 20 l 0 15"},
    {0x2026, 10.4, "m 0 0.3 l 0.4 0.3 m 5 0.3 l 5.4 0.3 m 10 0.3 l 10.4 0.3"},
    {0x2212, 11, "m 0 9 l 11 9"},
};
static const glyph unknown = {0, 11, "m 0 0 l 0 20 l 11 20 l 11 0 l 0 0"};

static const glyph *find(uint32_t code) {
  for (size_t i = 0; i < sizeof glyphs / sizeof *glyphs; i++)
    if (glyphs[i].code == code) return &glyphs[i];
  return &unknown;
}

enum { MAX_SEGMENTS = 256 };
typedef struct {
  int n;
  double end[MAX_SEGMENTS][4];
} strokes;

typedef struct {
  double x, y;
  bool down;
} pen;

static void pen_to(strokes *s, pen *p, double x, double y) {
  if (p->down && s->n < MAX_SEGMENTS) {
    double *e = s->end[s->n++];
    e[0] = p->x, e[1] = p->y, e[2] = x, e[3] = y;
  }
  *p = (pen){x, y, true};
}

static void flatten(const char *path, strokes *s) {
  pen p = {0, 0, false};
  s->n = 0;
  for (char *at = (char *)(uintptr_t)path; *at;) {
    char command = *at++;
    if (command == ' ') continue;
    double v[6];
    for (int i = 0; i < (command == 'a' ? 6 : 2); i++) v[i] = strtod(at, &at);
    if (command == 'm') p.down = false;
    if (command != 'a') {
      pen_to(s, &p, v[0], v[1]);
      continue;
    }
    int steps = (int)ceil(fabs(v[5] - v[4]) / 12);
    for (int i = 0; i <= steps; i++) {
      double angle = (v[4] + (v[5] - v[4]) * i / steps) * M_PI / 180;
      pen_to(s, &p, v[0] + v[2] * cos(angle), v[1] + v[3] * sin(angle));
    }
  }
}

/* The union of the strokes is laid on once: crossings are not darker. */
static void draw_glyph(pcsim_picture *canvas, const glyph *g, double x, double y, double size, colour c) {
  strokes s;
  flatten(g->path, &s);
  if (s.n == 0) return;
  const double scale = size / HEIGHT, half = fmax(0.55, STROKE * scale / 2);
  double box[4] = {1e9, 1e9, -1e9, -1e9};
  for (int i = 0; i < s.n; i++)
    for (int k = 0; k < 4; k += 2) {
      s.end[i][k] = x + scale * s.end[i][k];
      s.end[i][k + 1] = y - scale * s.end[i][k + 1];
      box[0] = fmin(box[0], s.end[i][k]), box[1] = fmin(box[1], s.end[i][k + 1]);
      box[2] = fmax(box[2], s.end[i][k]), box[3] = fmax(box[3], s.end[i][k + 1]);
    }
  for (int py = (int)floor(box[1] - half - 1); py <= box[3] + half + 1; py++)
    for (int px = (int)floor(box[0] - half - 1); px <= box[2] + half + 1; px++) {
      double near2 = 1e18;
      for (int i = 0; i < s.n; i++) {
        const double *e = s.end[i];
        double dx = e[2] - e[0], dy = e[3] - e[1], qx = px + 0.5 - e[0], qy = py + 0.5 - e[1];
        double length2 = dx * dx + dy * dy, t = length2 > 0 ? (qx * dx + qy * dy) / length2 : 0;
        t = t < 0 ? 0 : t > 1 ? 1 : t;
        qx -= t * dx, qy -= t * dy;
        near2 = fmin(near2, qx * qx + qy * qy);
      }
      canvas_blend(canvas, px, py, c, half + 0.5 - sqrt(near2));
    }
}

/* Next letter of a text: its glyph, and whether it is raised. `^` followed by a sign or digit raises what
 * follows up to the last digit; superscript two and three are raised digits. */
typedef struct {
  const char *at;
  bool raised;
} text_reader;

static const glyph *next_glyph(text_reader *r, bool *raised) {
  uint32_t code;
  if (r->raised && !(*r->at == '-' || (*r->at >= '0' && *r->at <= '9'))) r->raised = false;
  if (*r->at == '^' && !r->raised && (r->at[1] == '-' || (r->at[1] >= '0' && r->at[1] <= '9'))) {
    r->raised = true;
    r->at++;
  }
  int n = text_utf8(r->at, &code);
  r->at += n ? n : 1;
  *raised = r->raised;
  if (n == 0) return &unknown;
  if (code == 0xB2 || code == 0xB3 || code == 0xB9) {
    *raised = true;
    code = code == 0xB9 ? '1' : '2' + (code - 0xB2);
  }
  if (*raised && code == '-') code = 0x2212;
  return find(code);
}

static const double RAISED_SIZE = 0.68;

double text_width(const char *text, double size) {
  double width = 0;
  bool raised;
  for (text_reader r = {text, false}; *r.at;) {
    const glyph *g = next_glyph(&r, &raised);
    width += (g->width + SPACING) * (raised ? RAISED_SIZE : 1);
  }
  return width > 0 ? (width - SPACING) * size / HEIGHT : 0;
}

void canvas_text(pcsim_picture *canvas, double x, double y, double size, double anchor, colour c,
                 const char *text) {
  bool raised;
  x -= anchor * text_width(text, size);
  for (text_reader r = {text, false}; *r.at;) {
    const glyph *g = next_glyph(&r, &raised);
    double own = raised ? size * RAISED_SIZE : size;
    draw_glyph(canvas, g, x, raised ? y - 0.48 * size : y, own, c);
    x += (g->width + SPACING) * own / HEIGHT;
  }
}

void text_fit(const char *text, double size, double width, char *out, size_t out_size) {
  snprintf(out, out_size, "%s", text);
  size_t n = strlen(out);
  while (n > 0 && text_width(out, size) > width) {
    do n--;
    while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80);
    snprintf(out, out_size, "%.*s\xE2\x80\xA6", (int)n, text);
  }
}
