// The built page as the program takes it: ASCII, packed, and beside it the sum of the sources it was built from.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

// Beyond ASCII there is only text in strings and patterns of the script, where an escape means the same.
const page = readFileSync('dist/index.html', 'utf8').replace(/[^\x00-\x7e]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
if (page.split('{"foretrain":"data"}').length !== 2) throw new Error('the page has no one place for data');
if (/(?:src|href)="https?:/.test(page)) throw new Error('the page refers to the network');
writeFileSync('page.html.gz', gzipSync(page, { level: 9 }));
writeFileSync('page.sum', execFileSync('../../tools/page_sum').toString());
console.log(`${page.length} bytes, packed ${readFileSync('page.html.gz').length}`);
