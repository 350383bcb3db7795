"""How pages look: one sheet, for light and dark, wide and narrow, screen and paper.

Nothing is loaded: letters are the system's. Numbers stand under each other. Lines in pictures keep their
width however a picture is stretched, and words in pictures have a rim of the page's colour, so that they can
be read on whatever is under them.
"""

from __future__ import annotations

from typing import Final

from allotment.pictures.palette import MANY, variables

_MARKS: Final = "".join(f".f{n}{{fill:var(--w{n})}}.s{n}{{stroke:var(--w{n})}}" for n in range(MANY + 1))
_DASHES: Final = ("", "8 3", "2 3", "10 3 2 3", "5 2", "12 4", "1 2", "6 2 2 2 2 2", "3 6")
_LINES: Final = "".join(f".d{n}{{stroke-dasharray:{dash}}}" for n, dash in enumerate(_DASHES) if dash)

_PAGE: Final = """
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
main{max-width:1180px;margin:0 auto;padding:32px 24px 48px}
header p{margin:4px 0 0;color:var(--soft)}
.kicker{font-size:13px;letter-spacing:.06em;text-transform:uppercase;color:var(--soft);margin:0}
h1{font-size:28px;line-height:1.25;margin:4px 0 0;font-weight:650}
h2{font-size:19px;line-height:1.3;margin:0;font-weight:620}
h3{font-size:15px;margin:20px 0 0;font-weight:600}
p{margin:8px 0 0;max-width:76ch}
.lead{font-size:18px;color:var(--ink);margin-top:16px}
.soft{color:var(--soft)}
p.soft{font-size:14px;margin-top:6px}
.signed{list-style:none;padding:0}
.signed li{padding-left:22px;position:relative}
.sign{position:absolute;left:2px;font-weight:700}
.signed p{margin:0}
section{background:var(--surface);border:1px solid var(--line);border-radius:10px;
padding:20px 24px 22px;margin-top:20px}
figure{margin:16px 0 0}
figcaption{font-weight:600;font-size:15px;margin-bottom:6px}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(165px,1fr));gap:1px;margin:24px 0 0;
background:var(--surface);border:1px solid var(--line);border-radius:10px;overflow:hidden}
.figures div{box-shadow:0 0 0 1px var(--line);padding:14px 16px}
.figures dt{font-size:13px;color:var(--soft)}
.figures dd{margin:2px 0 0}
.figures .value{font-size:22px;font-weight:640;line-height:1.3}
.figures .detail{font-size:13px;color:var(--soft)}
.verdict{border-left:4px solid var(--accent)}
.verdict.no{border-left-color:var(--alarm)}
.verdict.neither{border-left-color:var(--rest)}
.verdict.yes{border-left-color:var(--good)}
.alarm{color:var(--alarm);font-weight:600}
.good{color:var(--good);font-weight:600}
ul{margin:8px 0 0;padding-left:22px;max-width:80ch}
li{margin-top:4px}
.legend{list-style:none;padding:0;margin:8px 0 0;display:flex;flex-wrap:wrap;gap:2px 18px;font-size:13px;
color:var(--soft);max-width:none}
.legend li{display:flex;align-items:center;gap:7px;margin:2px 0 0}
.swatch{flex:none}
.wide{overflow-x:auto;margin-top:12px}
table{border-collapse:collapse;font-size:14px;width:100%}
caption{text-align:left;color:var(--soft);font-size:13px;padding-bottom:6px}
th,td{text-align:left;padding:6px 12px 6px 0;border-bottom:1px solid var(--line);vertical-align:top;
overflow-wrap:normal}
thead th{color:var(--soft);font-weight:500;font-size:13px;vertical-align:bottom}
tbody th{font-weight:500}
tbody th.n{white-space:nowrap}
th.n,td.n{text-align:right}
td small,th small{display:block;color:var(--soft);font-size:12px}
details{margin-top:12px;font-size:14px}
summary{cursor:pointer;color:var(--soft);padding:4px 0}
summary:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
footer{margin-top:24px;color:var(--soft);font-size:13px}
footer p{max-width:none}
code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap}
"""

_PICTURE: Final = """
.plot{display:block;overflow:visible}
.rowed{padding-left:72px}
.rows{overflow:visible}
.open{overflow:visible}
.none{position:absolute}
.beyond{stroke:var(--surface);stroke-width:1}
.limit{stroke:var(--ink);stroke-width:2.5}
svg text{font-size:12px;fill:var(--ink);stroke:var(--surface);stroke-width:3px;stroke-linejoin:round;
paint-order:stroke}
svg .tick{fill:var(--soft);font-size:11px}
svg .level{fill:var(--ink);stroke:none}
.plate{fill:var(--surface);fill-opacity:.8}
svg .strong{fill:var(--ink);font-weight:600}
svg .start{text-anchor:start}
svg .middle{text-anchor:middle}
svg .end{text-anchor:end}
svg .head{font-weight:600;font-size:12.5px}
svg .row{fill:var(--soft);font-size:11px}
svg .name{font-size:11px;stroke-opacity:.85}
.lines{margin-top:8px}
.line{display:flex;justify-content:space-between;align-items:baseline;gap:2px 16px;flex-wrap:wrap;
font-size:13.5px;
line-height:1.35;padding-top:8px}
.line b{margin-left:auto;font-weight:600;text-align:right}
.lines h4{margin:18px 0 0;font-size:13.5px;font-weight:600}
.grid{stroke:var(--line);stroke-width:1}
.track{fill:var(--page)}
.track-line{stroke:var(--line);stroke-width:1}
.hatch{fill:none;stroke:var(--surface);stroke-opacity:.5;stroke-width:1.4}
.veil{fill:var(--surface);fill-opacity:.55}
.cut{stroke:var(--surface);stroke-width:1.5}
.struck{stroke:var(--alarm);stroke-width:5}
path,.reach,.mark,.bound{vector-effect:non-scaling-stroke}
.mark{stroke:var(--ink);stroke-width:1.2;stroke-dasharray:4 3}
.bound{stroke:var(--soft);stroke-width:1.2;stroke-dasharray:7 4}
.band{fill:var(--accent);fill-opacity:.2;stroke:none}
.edge{fill:none;stroke:var(--accent);stroke-opacity:.55;stroke-width:1}
.curve{fill:none;stroke:var(--accent);stroke-width:2.2}
.reach{stroke:var(--accent);stroke-width:4;stroke-opacity:.75}
.stop{stroke:var(--accent);stroke-width:2}
.dot{fill:var(--accent);stroke:var(--surface);stroke-width:1.5}
.plain{stroke:var(--soft)}
.filled{fill:var(--soft)}
.area{fill-opacity:.42}
.layer{stroke:none}
.line{fill:none;stroke-width:2.2}
.deserved{fill:none;stroke:var(--ink);stroke-width:1.6;stroke-dasharray:8 4}
.fair{fill:none;stroke:var(--good);stroke-width:2.2}
.asked{fill:none;stroke:var(--soft);stroke-width:1.8;stroke-dasharray:1.5 3.5}
.lost{fill:var(--alarm)}
.lost-line{stroke:var(--alarm);stroke-width:1;stroke-opacity:.7}
"""

_NARROW: Final = """
@media (max-width:640px){
main{padding:20px 12px 32px}
h1{font-size:22px}
.lead{font-size:16px}
section{padding:16px 14px 18px}
.odd{display:none}
.rowed{padding-left:58px}
.name{display:none}
.many{min-width:540px}
.figures{grid-template-columns:1fr 1fr}
.figures div{padding:10px 12px}
.figures .value{font-size:18px}
th,td{padding-right:8px;font-size:13px}
}
@media print{
body{background:none;font-size:13px}
main{max-width:none;padding:0}
.lead{font-size:15px}
section,.figures{break-inside:avoid;border-color:#bbb}
section.long{break-inside:auto}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
}
"""


def sheet() -> str:
    """The whole sheet."""
    light, dark = variables("light"), variables("dark")
    themes = (
        f":root{{color-scheme:light dark;{light}}}"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}"
    )
    return "".join(each.replace("\n", "") for each in (themes, _PAGE, _PICTURE, _MARKS, _LINES, _NARROW))
