/** How the page of the description looks: light and dark, wide and narrow, for the eye and for the keyboard. */
export const STYLE = `
:root{color-scheme:light dark;--back:#fff;--text:#1b1f24;--soft:#57606a;--edge:#c9d0d8;--card:#f6f8fa;--act:#0b5cad;--on-act:#fff;
--get:#0b5cad;--post:#1a6b37;--put:#7a4a00;--patch:#6d4200;--delete:#b3261e}
@media (prefers-color-scheme:dark){:root{--back:#14171b;--text:#e6e9ed;--soft:#a9b1ba;--edge:#3b434c;--card:#1c2126;--act:#8ec5ff;
--on-act:#0a1a2b;--get:#8ec5ff;--post:#7fd89a;--put:#f0b65e;--patch:#f0b65e;--delete:#ffb4ab}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--text);font:1rem/1.5 system-ui,sans-serif}
a{color:var(--act)}
:focus-visible{outline:3px solid var(--act);outline-offset:2px}
code,pre{font-family:ui-monospace,monospace;font-size:.9em}
pre{background:var(--card);border:1px solid var(--edge);border-radius:.4rem;padding:.7rem;overflow-x:auto;max-height:30rem;margin:.5rem 0}
h1{font-size:1.8rem;margin:0}
h2{font-size:1.35rem;margin:2rem 0 .25rem;scroll-margin-top:1rem}
h4{font-size:1rem;margin:1rem 0 .25rem}
p{margin:.5rem 0;max-width:48rem;overflow-wrap:anywhere}
.skip{position:absolute;left:-100rem}
.skip:focus{left:1rem;top:1rem;background:var(--back);padding:.5rem;z-index:1}
.frame{display:grid;grid-template-columns:15rem minmax(0,1fr);gap:2rem;max-width:80rem;margin:0 auto;padding:1.5rem}
nav{position:sticky;top:1.5rem;align-self:start;max-height:calc(100vh - 3rem);overflow-y:auto}
nav ul{list-style:none;margin:0;padding:0;columns:1}
nav a{display:block;padding:.25rem .5rem;text-decoration:none;border-radius:.3rem}
nav a:hover{background:var(--card)}
.tools{margin:1rem 0;display:flex;flex-wrap:wrap;gap:.75rem;align-items:end}
.tools label{flex:1 1 14rem}
label{display:block;font-weight:600;font-size:.9rem}
input,textarea,select{width:100%;font:inherit;font-weight:400;padding:.4rem .5rem;border:1px solid var(--soft);border-radius:.3rem;background:var(--back);
color:var(--text)}
textarea{font-family:ui-monospace,monospace;font-size:.85rem;min-height:8rem}
button{font:inherit;font-weight:600;padding:.4rem 1rem;border:2px solid var(--act);border-radius:.4rem;background:var(--act);
color:var(--on-act);cursor:pointer}
details{border:1px solid var(--edge);border-radius:.4rem;margin:.4rem 0;scroll-margin-top:1rem}
details>summary{cursor:pointer;padding:.45rem .6rem;border-radius:.4rem;overflow-wrap:anywhere}
details[open]>summary{background:var(--card)}
.inside{padding:.25rem .9rem .9rem}
.method{display:inline-block;min-width:4.8em;font-weight:700;font-size:.85rem}
.get{color:var(--get)}.post{color:var(--post)}.put{color:var(--put)}.patch{color:var(--patch)}.delete{color:var(--delete)}
.path{font-weight:600}
.summary{color:var(--soft);margin-left:.4rem}
.old{border:1px solid var(--soft);border-radius:.3rem;padding:0 .3rem;font-size:.8rem}
.members{list-style:none;margin:.25rem 0;padding:0}
.members .members{margin-left:.4rem;padding-left:.8rem;border-left:2px solid var(--edge)}
.members li{padding:.2rem 0;overflow-wrap:anywhere}
.words{display:block;padding-left:.8rem}
.content{margin:.35rem 0;overflow-wrap:anywhere}
.type,.note{color:var(--soft);font-size:.92em}
em{font-size:.85em;color:var(--delete)}
.try{border-top:1px solid var(--edge);margin-top:1rem;padding-top:.25rem}
.fields{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:.5rem;margin:.5rem 0}
.wide{grid-column:1/-1}
[hidden]{display:none}
@media (max-width:50rem){.frame{display:block;padding:1rem}nav{position:static;max-height:none;margin:1rem 0}nav ul{columns:2}
.summary{display:block;margin-left:0}}
@media print{nav,.tools,.try{display:none}.frame{display:block}}
`;
