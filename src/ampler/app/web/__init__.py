"""The browser: pages over designs, studies and results, for people who would rather look than read.

    a request ─► security ─► a page's module ─► the rooms below ─► templates, charts ─► HTML

In reading order:

* `server`: every address with its page, and how it listens
* `security`: who may ask, and what a page may do
* `pages`: templates, and what goes wrong as a page; `static_files`: style sheets and scripts
* `shelf`: the study files that were named, and no others
* `home`: the first page, three doors
* `study_page`: the given studies, and one study live; `study_charts`: its pictures; `live`: one look for all who watch;
  `news`: what those are told who have an earlier look
* `results_page`: what may be concluded, seven views; `asked_analysis`: its state; `analysed`: analyses that are kept;
  `downloads`: what can be taken along; `drawn`: figures, one at a time; `pair_figures`: those of one pair
* `bring_page`: results that people bring, and how their columns are read; `brought`: where those files are kept
* `instance_page`: one instance of a study; `instance_charts`: its pictures
* `query`: what an address asks for
* `calculator`: how many instances; `asked_design`: its state; `design_charts`, on the frame of `charts`: its pictures

No page starts an algorithm or changes a study: files are opened to be read. Pages lay out; what is said of a design, a
study or an analysis stands in the `words` of their rooms. Only `app.shell.serve` imports this, when it is called: the
web libraries are an extra. Scripts and style sheets are in `static`, and pages work without scripts as far as they can.
"""
