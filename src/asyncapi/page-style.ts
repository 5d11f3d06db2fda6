/** The page's only style: readable on a phone, where each row of a table becomes a block, in light and in dark. */
export const STYLE = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --accent: #2563eb; }
@media (prefers-color-scheme: dark) { :root { --accent: #7aa7ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 16px/1.55 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); } h3 { margin: 1.5rem 0 .5rem; }
a { color: var(--accent); }
code, pre { font: .875em/1.45 ui-monospace, monospace; }
code { background: var(--soft); padding: .1em .3em; border-radius: .25em; }
pre { background: var(--soft); padding: .75rem; border-radius: .4rem; overflow-x: auto; overflow-wrap: normal; }
pre code { background: none; padding: 0; }
table { width: 100%; border-collapse: collapse; }
th, td { text-align: left; vertical-align: top; padding: .4rem .5rem; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
article { border: 1px solid var(--line); border-radius: .5rem; padding: 0 1rem 1rem; margin: 1rem 0; }
summary { cursor: pointer; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 1em; padding: 0 .6em; font-size: .85em; }
@media (max-width: 40rem) {
  thead { display: none; }
  tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { display: block; border: 0; padding: .1rem 0; }
  td:empty { display: none; }
  td[data-label]::before { content: attr(data-label) ": "; opacity: .7; }
}
@media print { article { break-inside: avoid-page; } details > * { display: block; } }
`;
