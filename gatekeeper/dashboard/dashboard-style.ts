/** Style of the operator's page, in light and dark. */
export const DASHBOARD_STYLE = `
:root{color-scheme:light dark;--ink:#16202b;--dim:#4d5b69;--page:#f6f7f9;--card:#fff;--rule:#d5dbe1;
--bar:#2563a8;--good:#14683a;--bad:#a3201d;--wait:#7a4b00}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf2;--dim:#a9b6c3;--page:#10161d;--card:#18212b;
--rule:#33414e;--bar:#6fa8e8;--good:#6ed49a;--bad:#ff9c94;--wait:#f0c069}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main{max-width:70rem;margin:0 auto;padding:0 1rem}
header{padding-top:1.5rem}
h1{font-size:1.5rem;margin:0}
h2{font-size:1.15rem;margin:0 0 .5rem}
p{margin:.25rem 0 .75rem}
header p,.note{color:var(--dim);font-size:.9rem}
section{background:var(--card);border:1px solid var(--rule);border-radius:.5rem;padding:1rem;margin:1rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(10rem,1fr));gap:1rem;margin:0}
.figures div{border-left:3px solid var(--bar);padding-left:.75rem}
dt{color:var(--dim);font-size:.9rem}
dd{margin:0;font-size:1.4rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
dd small{display:block;font-size:.8rem;color:var(--dim)}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.9rem}
caption{text-align:left;color:var(--dim);padding-bottom:.25rem}
th,td{text-align:left;vertical-align:top;padding:.3rem .75rem .3rem 0;border-bottom:1px solid var(--rule)}
td{overflow-wrap:anywhere}
.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
details table{margin:.25rem 0 .5rem}
summary{cursor:pointer}
:focus-visible{outline:3px solid var(--bar);outline-offset:2px}
figure{margin:0 0 1rem}
figcaption{color:var(--dim);font-size:.9rem}
svg{display:block;width:100%;height:8rem;border-bottom:1px solid var(--rule)}
rect{fill:var(--bar)}
.good,.bad,.wait{white-space:nowrap}
.good{color:var(--good)}.bad{color:var(--bad);font-weight:600}.wait{color:var(--wait);font-weight:600}
`;
