import { chromium } from 'playwright-core';
import { readdirSync, mkdirSync } from 'node:fs';
const [dir, folder, out, only] = process.argv.slice(2);
const per = folder.startsWith('390') ? 5 : 4, w = folder.startsWith('390') ? 312 : 790, cols = folder.startsWith('390') ? 5 : 2;
const maxH = folder.startsWith('390') ? 1500 : 800;
let files = readdirSync(`${dir}/${folder}`).filter(f=>f.endsWith('.png'));
if (only) files = files.filter(f=>only.split(',').includes(f.slice(0,-4)));
mkdirSync(out,{recursive:true});
const b = await chromium.launch({executablePath:'/usr/bin/chromium-headless-shell', args:['--no-sandbox','--allow-file-access-from-files']}).catch(()=>chromium.launch({executablePath:'/usr/bin/chromium', args:['--no-sandbox']}));
const p = await b.newPage({viewport:{width:1600,height:1000}});
await p.goto('file:///tmp/w/');
for (let i=0;i<files.length;i+=per){
  const part = files.slice(i,i+per);
  await p.setContent(`<body style="margin:0;background:#888;display:grid;grid-template-columns:repeat(${cols},${w}px);gap:6px;align-items:start">`+part.map(f=>`<div><div style="font:12px sans-serif;background:#ff0">${f}</div><div style="max-height:${maxH}px;overflow:hidden"><img style="width:${w}px" src="file://${dir}/${folder}/${f}"></div></div>`).join(''));
  await p.evaluate('Promise.all([...document.images].map(i=>i.complete||new Promise(r=>{i.onload=i.onerror=r})))');
  await p.screenshot({path:`${out}/${folder}-${String(i/per).padStart(2,'0')}.png`, fullPage:true});
}
await b.close();
