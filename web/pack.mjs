// A built page as the program takes it: with the notices of what is in it, ASCII, packed, and beside it the sum of the sources it was built from. Usage: node pack.mjs report|workshop
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { noticesFold } from './notices.mjs';

const name = process.argv[2];
// Beyond ASCII there is only text in strings and patterns of the script, where an escape means the same.
const built = readFileSync(`dist/${name}/index.html`, 'utf8').replace(/[^\x00-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const end = built.lastIndexOf('</body>');
if (end < 0) throw new Error('the page has no end, where its notices go');
const page = built.slice(0, end) + noticesFold() + '\n' + built.slice(end);
if (name === 'report' && page.split('{"foretrain":"data"}').length !== 2) throw new Error('the page has no one place for data');
if (/(?:src|href)="https?:/.test(page)) throw new Error('the page refers to the network');
writeFileSync(`${name}/page.html.gz`, gzipSync(page, { level: 9 }));
writeFileSync(`${name}/page.sum`, execFileSync('../tools/page_sum', [name]).toString());
console.log(`${name}: ${page.length} bytes, packed ${readFileSync(`${name}/page.html.gz`).length}`);
