/* SPDX-License-Identifier: BSD-2-Clause */
/* report.html: everything about a run on one page that needs no other file. */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--ink:#1d2430;--soft:#5c6675;--line:#dfe3e9;--panel:#f6f7f9;"
    "--good:#10734a;--bad:#b3261e;--warn:#8a5a00;--grid:#e6e9ee;"
    "--c0:#1f5fbf;--c1:#d1495b;--c2:#2a9d6f;--c3:#b7791f;--c4:#7a4fbf;--c5:#0f8fa8;--c6:#9a6a4b;--c7:#8a93a0}"
    "@media(prefers-color-scheme:dark){:root{--page:#14181f;--ink:#e6e9ee;--soft:#9aa5b4;--line:#2c3440;--"
    "panel:#1b212a;"
    "--good:#5fd3a0;--bad:#ff8a80;--warn:#f0c060;--grid:#2a323d;"
    "--c0:#6aa8ff;--c1:#ff8a98;--c2:#5fd3a0;--c3:#f0b35a;--c4:#b79aff;--c5:#4fd0e6;--c6:#d0a080;--c7:#8a93a0}"
    "}"
    "*{box-sizing:border-box}body{margin:0;background:var(--page);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    "main{max-width:1180px;margin:0 auto;padding:32px 24px "
    "64px}h1{font-size:1.75rem;line-height:1.2;margin:0 0 .3em}"
    "dl+.lead,.scroll+.lead{margin-top:.9em}h2{font-size:1.2rem;margin:2.2em 0 "
    ".8em;padding-bottom:.25em;border-bottom:1px solid var(--line)}"
    ".lead{color:var(--soft);margin:0 0 1.2em}.badge{display:inline-block;padding:.1em "
    ".65em;border-radius:1em;"
    "border:1.5px solid currentColor;font-weight:600;font-size:.9rem;margin-right:.5em}"
    ".good{color:var(--good)}.bad{color:var(--bad)}.warn{color:var(--warn)}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(150px,1fr));gap:10px;margin:0}"
    ".cards div{background:var(--panel);border-radius:8px;padding:10px 14px}.cards "
    "dt{color:var(--soft);font-size:.82rem}"
    ".cards "
    "dd{margin:0;font-size:1.12rem;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}"
    ".scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:.94rem}"
    "th,td{text-align:left;padding:.42em .8em .42em 0;border-bottom:1px solid var(--line);vertical-align:top}"
    "th{color:var(--soft);font-weight:600;font-size:.84rem}td.n,th.n{text-align:right;font-variant-numeric:"
    "tabular-nums;"
    "white-space:nowrap}td.source{color:var(--soft);font-size:.86rem}"
    "figure{margin:0}figure.picture{margin:0 0 22px}figure.picture img{width:100%;height:auto;display:block;"
    "background:#fff;border:1px solid "
    "var(--line);border-radius:8px}figcaption{font-weight:600;font-size:.94rem;margin:.4em 0}"
    ".charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(440px,100%),1fr));gap:22px}"
    ".charts figure{max-width:640px}"
    ".chart svg{width:100%;height:auto;display:block}.chart .legend "
    "svg{width:26px;height:10px;display:inline-block;"
    "margin-right:.4em}.legend{list-style:none;display:flex;flex-wrap:wrap;gap:.1em 1.2em;margin:0;padding:0;"
    "font-size:.85rem;color:var(--soft)}"
    ".chart text{fill:var(--soft);font:12.5px system-ui,sans-serif}.chart text.name{fill:var(--ink)}.chart "
    ".sup{font-size:9.5px}"
    ".grid{stroke:var(--grid)}.axis{fill:none;stroke:var(--soft)}.band{fill:var(--good);opacity:.16}"
    ".level{stroke:var(--good);stroke-width:1.6;stroke-dasharray:7 4;fill:none}.dashed{stroke-dasharray:6 5}"
    ".chart path[class^=s]{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".s0{stroke:var(--c0)}.s1{stroke:var(--c1)}.s2{stroke:var(--c2)}.s3{stroke:var(--c3)}.s4{stroke:var(--c4)"
    "}"
    ".s5{stroke:var(--c5)}.s6{stroke:var(--c6)}.s7{stroke:var(--c7)}"
    ".p0{fill:var(--c0)}.p1{fill:var(--page);stroke:var(--c1);stroke-width:1.8}.p2{fill:var(--c2)}.p3{fill:"
    "var(--c3)}"
    ".p4{fill:var(--c4)}.p5{fill:var(--c5)}.p6{fill:var(--c6)}.p7{fill:var(--c7)}"
    "details{background:var(--panel);border-radius:8px;padding:10px "
    "16px;margin-top:2em}summary{cursor:pointer;font-weight:600}"
    "pre{overflow-x:auto;font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}"
    "footer{margin-top:3em;color:var(--soft);font-size:.85rem}"
    "@media "
    "print{:root{--page:#fff;--ink:#000;--soft:#444;--line:#bbb;--panel:#fff;--good:#0b5c3a;--bad:#9a1b14;"
    "--grid:#ddd}main{max-width:none;padding:0}section,figure,tr{break-inside:avoid}h2{break-after:avoid}"
    ".cards div{border:1px solid var(--line)}body{font-size:11pt}}";

/* --------------------------------------------------------------- small pieces */

/* A number for a table: digits that mean something, a true minus sign, a dash for what is missing. */
static void put_number(text_buffer *t, double value, int digits) {
  char number[40];
  if (!isfinite(value)) {
    text_add(t, "%s",
             isnan(value) ? "\xE2\x80\x93"
             : value > 0  ? "\xE2\x88\x9E"
                          : "\xE2\x88\x92\xE2\x88\x9E");
    return;
  }
  snprintf(number, sizeof number, "%.*g", digits, value);
  for (const char *s = number; *s; s++) text_add(t, *s == '-' ? "\xE2\x88\x92" : "%c", *s);
}

static void put_percent(text_buffer *t, double share) {
  if (!isfinite(share)) {
    put_number(t, share, 3);
    return;
  }
  put_number(t, 100 * share, 3);
  text_add(t, "\xE2\x80\x89%%");
}

static void put_count(text_buffer *t, int64_t n) {
  char digits[32];
  int length = snprintf(digits, sizeof digits, "%" PRId64, n < 0 ? -n : n);
  if (n < 0) text_add(t, "\xE2\x88\x92");
  for (int i = 0; i < length; i++) {
    if (i && (length - i) % 3 == 0) text_add(t, "\xE2\x80\xAF"); /* narrow space */
    text_add(t, "%c", digits[i]);
  }
}

static void put_seconds(text_buffer *t, double seconds) {
  if (!isfinite(seconds)) put_number(t, seconds, 3);
  else if (seconds < 120) text_add(t, "%.3g s", seconds);
  else if (seconds < 7200) text_add(t, "%d min %02d s", (int)seconds / 60, (int)seconds % 60);
  else text_add(t, "%d h %02d min", (int)(seconds / 3600), (int)fmod(seconds, 3600) / 60);
}

static void put_bytes(text_buffer *t, double bytes) {
  static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int k = 0;
  for (; bytes >= 1024 && k < 4; k++) bytes /= 1024;
  text_add(t, "%.3g %s", bytes, unit[k]);
}

static void card_open(text_buffer *t, const char *name) {
  text_add(t, "<div><dt>");
  text_add_html(t, name);
  text_add(t, "</dt><dd>");
}
static void card_close(text_buffer *t) { text_add(t, "</dd></div>\n"); }

/* ----------------------------------------------------------------- sections */

static void put_head(text_buffer *t, const pcsim_report *r) {
  const char *status = r->status ? r->status : "";
  bool good = !strcmp(status, "converged") || !strcmp(status, "completed");
  int met = 0;
  for (int i = 0; i < r->num_comparisons; i++) met += r->comparisons[i].met;
  text_add(t, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
              "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>");
  text_add_html(t, r->title && r->title[0] ? r->title : "pcsim report");
  text_add(t, "</title><style>");
  text_add_bytes(t, style, sizeof style - 1);
  text_add(t, "</style></head>\n<body><main>\n<h1>");
  text_add_html(t, r->title && r->title[0] ? r->title : "Report");
  text_add(t, "</h1>\n<p class=\"lead\"><span class=\"badge %s\">", good ? "good" : "bad");
  text_add_html(t, status[0] ? status : "unknown");
  text_add(t, "</span>");
  if (r->num_comparisons)
    text_add(t, "<span class=\"badge %s\">%d of %d references met</span>",
             met == r->num_comparisons ? "good" : "bad", met, r->num_comparisons);
  if (r->reason) text_add_html(t, r->reason);
  text_add(t, "</p>\n");
}

static const pcsim_comparison *find_comparison(const pcsim_report *r, const char *name) {
  for (int i = 0; i < r->num_comparisons; i++)
    if (!strcmp(r->comparisons[i].quantity, name)) return &r->comparisons[i];
  return NULL;
}

static void put_reference(text_buffer *t, const pcsim_report *r, const pcsim_comparison *c) {
  for (int i = 0; i < r->num_curves; i++)
    if (!strcmp(r->curves[i].name, c->quantity)) {
      text_add(t, "largest deviation");
      return;
    }
  if (isfinite(c->low) || isfinite(c->high)) {
    put_number(t, c->low, 7);
    text_add(t, " to ");
    put_number(t, c->high, 7);
    return;
  }
  /* A relative error from zero is that of a whole profile or field. */
  put_number(t, c->reference == 0 && !c->absolute ? NAN : c->reference, 9);
}

static void put_error(text_buffer *t, const pcsim_comparison *c) {
  if (c->absolute) put_number(t, c->error, 3);
  else put_percent(t, c->error);
}

static void put_tolerance(text_buffer *t, const pcsim_comparison *c) {
  if (isfinite(c->low) || isfinite(c->high)) text_add(t, "range");
  else if (c->absolute) put_number(t, c->tolerance, 3);
  else put_percent(t, c->tolerance);
}

/* "m^2/s" with its exponent raised. */
static void put_unit(text_buffer *t, const char *unit) {
  for (const char *s = unit; *s;) {
    size_t digits = *s == '^' ? strspn(s + 1, "-0123456789") : 0;
    if (digits) {
      text_add(t, "<sup>%.*s</sup>", (int)digits, s + 1);
      s += digits + 1;
      continue;
    }
    size_t plain = strcspn(s + 1, "^") + 1;
    char part[64];
    snprintf(part, sizeof part, "%.*s", (int)plain, s);
    text_add_html(t, part);
    s += plain;
  }
}

static void put_value_row(text_buffer *t, const pcsim_report *r, const char *name, const char *unit,
                          double value, const pcsim_comparison *c) {
  text_add(t, "<tr><td>");
  text_add_html(t, name);
  text_add(t, "</td><td class=\"n\">");
  put_number(t, value, 8);
  text_add(t, "</td><td>");
  if (unit && strcmp(unit, "1")) put_unit(t, unit);
  text_add(t, "</td>");
  if (!c) {
    text_add(t, "<td></td><td></td><td></td><td></td><td></td></tr>\n");
    return;
  }
  text_add(t, "<td class=\"n\">");
  put_reference(t, r, c);
  text_add(t, "</td><td class=\"n\">");
  put_error(t, c);
  text_add(t, "</td><td class=\"n\">");
  put_tolerance(t, c);
  text_add(t, "</td><td class=\"%s\"><strong>%s</strong></td><td class=\"source\">", c->met ? "good" : "bad",
           c->met ? "\xE2\x9C\x93 met" : "\xE2\x9C\x97 missed");
  text_add_html(t, c->source);
  text_add(t, "</td></tr>\n");
}

/* The mesh study has a table of its own. */
static bool in_study(const pcsim_report *r, const char *name) {
  return r->study && r->study->num_meshes > 0 &&
         (!strncmp(name, "order.", 6) || !strncmp(name, "extrapolated.", 13));
}

/* Compared quantities first, in the order of the case. */
static void put_quantities(text_buffer *t, const pcsim_report *r) {
  if (r->num_quantities == 0 && r->num_comparisons == 0) return;
  text_add(t, "<section><h2>Results</h2>\n<div class=\"scroll\"><table><thead><tr><th>Quantity</th><th "
              "class=\"n\">Value</th>"
              "<th>Unit</th><th class=\"n\">Reference</th><th class=\"n\">Error</th><th "
              "class=\"n\">Allowed</th><th></th>"
              "<th>Source</th></tr></thead><tbody>\n");
  for (int i = 0; i < r->num_comparisons; i++) {
    const pcsim_comparison *c = &r->comparisons[i];
    const char *unit = "";
    for (int q = 0; q < r->num_quantities; q++)
      if (!strcmp(r->quantities[q].name, c->quantity)) unit = r->quantities[q].unit;
    put_value_row(t, r, c->quantity, unit, c->value, c);
  }
  for (int q = 0; q < r->num_quantities; q++)
    if (!find_comparison(r, r->quantities[q].name) && !in_study(r, r->quantities[q].name))
      put_value_row(t, r, r->quantities[q].name, r->quantities[q].unit, r->quantities[q].value, NULL);
  text_add(t, "</tbody></table></div></section>\n");
}

static void put_solve(text_buffer *t, const pcsim_report *r) {
  card_open(t, "Cells"), put_count(t, r->cells), card_close(t);
  card_open(t, "Steps"), put_count(t, r->iterations), card_close(t);
  card_open(t, "Linear iterations"), put_count(t, r->linear_iterations), card_close(t);
  card_open(t, report_through_time(r) ? "Error of the last step" : "Residual"), put_number(t, r->residual, 3),
      card_close(t);
}

static void put_training(text_buffer *t, const pcsim_report *r) {
  const pcsim_report_training *training = r->training;
  card_open(t, "Network"), text_add_html(t, training->network), card_close(t);
  card_open(t, "Parameters"), put_count(t, training->parameters), card_close(t);
  card_open(t, "Points"), put_count(t, training->points), card_close(t);
  card_open(t, "Optimizer"), text_add_html(t, training->optimizer), card_close(t);
  card_open(t, "Steps"), put_count(t, r->iterations), card_close(t);
  card_open(t, "Residual at points not seen"), put_number(t, r->residual, 3), card_close(t);
  card_open(t, "Seed"), put_count(t, training->seed), card_close(t);
}

static void put_numerics(text_buffer *t, const pcsim_report *r) {
  text_add(t, "<section><h2>Run</h2>\n<dl class=\"cards\">\n");
  if (r->training) put_training(t, r);
  else put_solve(t, r);
  card_open(t, r->training ? "Training time" : "Solve time"), put_seconds(t, r->solve_seconds), card_close(t);
  card_open(t, "Wall time"), put_seconds(t, r->wall_seconds), card_close(t);
  card_open(t, "CPU time"), put_seconds(t, r->cpu_seconds), card_close(t);
  if (r->memory_peak)
    card_open(t, "Peak memory, all ranks"), put_bytes(t, (double)r->memory_peak), card_close(t);
  card_open(t, "Ranks"), put_count(t, r->ranks), card_close(t);
  if (r->version) card_open(t, "pcsim"), text_add_html(t, r->version), card_close(t);
  text_add(t, "</dl>\n");
  if (r->machine && r->machine[0]) {
    text_add(t, "<p class=\"lead\">");
    text_add_html(t, r->machine);
    text_add(t, "</p>\n");
  }
  text_add(t, "</section>\n");
}

static pcsim_status put_pictures(text_buffer *t, const pcsim_report *r) {
  if (r->num_pictures == 0) return PCSIM_OK;
  text_add(t, "<section><h2>Fields</h2>\n");
  for (int i = 0; i < r->num_pictures; i++) {
    if (!r->pictures[i]) continue;
    uint8_t *png = NULL;
    size_t size;
    const char *caption = r->captions && r->captions[i] ? r->captions[i] : "";
    PCSIM_TRY(pcsim_picture_png(r->pictures[i], &png, &size));
    text_add(t, "<figure class=\"picture\"><img width=\"%d\" height=\"%d\" alt=\"", r->pictures[i]->width,
             r->pictures[i]->height);
    text_add_html(t, caption);
    text_add(t, "\" src=\"data:image/png;base64,");
    text_add_base64(t, png, size);
    text_add(t, "\"><figcaption>");
    text_add_html(t, caption);
    text_add(t, "</figcaption></figure>\n");
    pcsim_free(&png);
  }
  text_add(t, "</section>\n");
  return PCSIM_OK;
}

bool pcsim_study_order_expected(double order) { return fabs(order - PCSIM_STUDY_FORMAL_ORDER) <= 0.3; }

static void put_study(text_buffer *t, const pcsim_report *r, int *id) {
  const pcsim_study *s = r->study;
  if (!s || s->num_meshes == 0) return;
  text_add(t, "<section><h2>%s study</h2>\n<div class=\"scroll\"><table><thead><tr><th>Quantity</th>",
           s->of_steps ? "Time step" : "Mesh");
  for (int i = 0; i < s->num_meshes; i++) {
    text_add(t, "<th class=\"n\">");
    if (s->of_steps) text_add(t, "dt = %.4g</th>", s->sizes[i]);
    else put_count(t, s->cells[i]), text_add(t, " cells</th>");
  }
  text_add(t, "<th class=\"n\">Order</th><th class=\"n\">Extrapolated</th><th "
              "class=\"n\">GCI</th></tr></thead><tbody>\n");
  for (int q = 0; q < s->num_quantities; q++) {
    text_add(t, "<tr><td>");
    text_add_html(t, s->names[q]);
    text_add(t, "</td>");
    for (int i = 0; i < s->num_meshes; i++) {
      text_add(t, "<td class=\"n\">");
      put_number(t, s->values[i * s->num_quantities + q], 8);
      text_add(t, "</td>");
    }
    text_add(t, "<td class=\"n\">");
    put_number(t, s->order[q], 3);
    if (isfinite(s->uncertainty[q]) && !pcsim_study_order_expected(s->order[q]))
      text_add(t, "<br><small class=\"warn\">order outside the expected range</small>");
    text_add(t, "</td><td class=\"n\">");
    put_number(t, s->extrapolated[q], 8);
    text_add(t, "</td><td class=\"n\">");
    put_percent(t, s->uncertainty[q]);
    text_add(t, "</td></tr>\n");
  }
  text_add(
      t, "</tbody></table></div>\n<p class=\"lead\">Order observed over the last three runs, value "
         "extrapolated to size zero (Richardson), grid convergence index (GCI) of the finest. For the "
         "last two the order is limited to 0.5 to 2; the index has the safety factor 1.25 where the observed "
         "order is within 0.3 of the formal one, 2, else 3 (Roache 1994; Oberkampf and Roy 2010). A dash: "
         "the values do not approach a limit from one side.</p>\n");
  report_study_charts(t, r, id);
  text_add(t, "</section>\n");
}

static void put_measure(text_buffer *t, const char *name, const pcsim_quality_measure *m) {
  text_add(t, "<tr><td>%s</td><td class=\"n\">", name);
  put_number(t, m->min, 4);
  text_add(t, "</td><td class=\"n\">");
  put_number(t, m->mean, 4);
  text_add(t, "</td><td class=\"n\">");
  put_number(t, m->max, 4);
  text_add(t, "</td><td class=\"source\">");
  if (m->num_worst > 0) {
    text_add(t, "cell %" PRId64 " at (", m->worst_cell[0]);
    for (int k = 0; k < 3; k++) {
      if (k) text_add(t, ", ");
      put_number(t, m->worst_centre[0][k], 4);
    }
    text_add(t, ")");
  }
  text_add(t, "</td></tr>\n");
}

static void put_quality(text_buffer *t, const pcsim_mesh_quality *q) {
  if (!q) return;
  text_add(t, "<section><h2>Mesh</h2>\n<p class=\"lead\">");
  bool first = true;
  for (int i = 0; i < PCSIM_NUM_CELL_TYPES; i++) {
    if (!q->count[i]) continue;
    if (!first) text_add(t, ", ");
    put_count(t, q->count[i]);
    text_add(t, " of type ");
    text_add_html(t, pcsim_cell_name((pcsim_cell_type)i));
    first = false;
  }
  text_add(t, "; sizes ");
  put_number(t, q->size_min, 3);
  text_add(t, " to ");
  put_number(t, q->size_max, 3);
  text_add(t, "; ");
  put_count(t, q->num_faces);
  text_add(t, " faces, ");
  put_count(t, q->num_nodes);
  text_add(t, " nodes.</p>\n<div class=\"scroll\"><table><thead><tr><th>Measure</th><th "
              "class=\"n\">Least</th><th class=\"n\">"
              "Mean</th><th class=\"n\">Most</th><th>Worst</th></tr></thead><tbody>\n");
  put_measure(t, "Non-orthogonality, degrees", &q->non_orthogonality);
  put_measure(t, "Skewness", &q->skewness);
  put_measure(t, "Volume ratio", &q->volume_ratio);
  put_measure(t, "Aspect ratio", &q->aspect_ratio);
  text_add(t, "</tbody></table></div></section>\n");
}

pcsim_status pcsim_report_write(const pcsim_report *r, const char *path) {
  text_buffer t = {0};
  int id = 0;
  put_head(&t, r);
  put_quantities(&t, r);
  put_numerics(&t, r);
  pcsim_status status = put_pictures(&t, r);
  report_curves(&t, r, &id);
  report_convergence(&t, r, &id);
  put_study(&t, r, &id);
  put_quality(&t, r->quality);
  if (r->case_text && r->case_text[0]) {
    text_add(&t, "<details><summary>The case, completed with every default</summary><pre>");
    text_add_html(&t, r->case_text);
    text_add(&t, "</pre></details>\n");
  }
  text_add(&t, "<footer>Written by pcsim ");
  text_add_html(&t, r->version ? r->version : "");
  text_add(&t, ".</footer>\n</main></body></html>\n");
  if (status == PCSIM_OK) status = t.status;
  if (status == PCSIM_OK) status = pcsim_file_write(path, t.data, t.size);
  text_free(&t);
  return status;
}
