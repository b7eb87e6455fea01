"""The browser: pages over designs, studies and results, for people who would rather look than read.

    a request ─► server ─► a page's module ─► the packages below ─► templates, charts ─► HTML

In reading order:

* `server`: every address with its page, how it listens, and who may ask
* `pages`: what all share: what an address asks for, templates, style sheets and scripts, errors as a page
* `studies`: the results files that were named, and no others: one snapshot for all who watch, one instance
* `results`: what may be concluded, in seven views, and the analyses, figures and downloads behind them
* `uploads`: results that people bring, and how their columns are read
* `design_page`: how many instances
* `charts`: the pictures of designs, studies and instances

No page starts an algorithm or changes a study: files are opened to be read. Pages lay out; what is said of a design, a
study or an analysis stands in the modules of sentences of the packages below. Only `app.cli` imports this, when
`ampler serve` is called: the web libraries are an extra. Scripts and style sheets are in `static`, and pages work
without scripts as far as they can.
"""
