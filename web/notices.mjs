// Writes the notices of the npm packages that are in the pages, from the lock file and each package's own licence file:
// third_party_notices.txt for people and ../packaging/copyright for Debian. Usage, after `npm ci`: node notices.mjs
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';

const kNotices = 'third_party_notices.txt', kDebian = '../packaging/copyright';

/** Production packages of the lock file, by name: {name, version, license}. */
function productionPackages() {
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && !entry.dev)
    .map(([path, entry]) => ({ path, name: path.slice(path.lastIndexOf('node_modules/') + 13), version: entry.version, license: entry.license }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

function licenceText({ path, name }) {
  const file = readdirSync(path).find((entry) => /^(licen[cs]e|copying)/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file: its notice has to be found before the pages can be built`);
  return readFileSync(`${path}/${file}`, 'utf8').replace(/\r/g, '').replace(/[ \t]+$/gm, '').trim();
}

/** Titles and copyright lines at the beginning differ between packages of one licence; what follows is its text. */
function parted(text) {
  const lines = text.split('\n'), copyrights = [];
  while (lines.length > 0 && /^\s*$|^\W*copyright\b|^all rights reserved\.?$|^\W*(the )?(mit|isc) licen[cs]e\W*(\(mit\))?\W*$/i.test(lines[0])) {
    const line = lines.shift().trim();
    if (/copyright/i.test(line)) copyrights.push(line);
    if (/^all rights reserved/i.test(line)) copyrights.push(`${copyrights.pop()}. ${line}`);
  }
  return { copyrights, body: lines.join('\n').trim() };
}

/** Packages whose licence texts are the same but for line breaks, each group with a name of its own: "MIT", "MIT-2". */
function groupsOf(packages) {
  const groups = new Map(), uses = new Map();
  for (const entry of packages) {
    const { copyrights, body } = parted(licenceText(entry));
    const key = entry.license + ' ' + body.replace(/\s+/g, ' ');
    if (!groups.has(key)) {
      const count = (uses.get(entry.license) ?? 0) + 1;
      uses.set(entry.license, count);
      groups.set(key, { name: count === 1 ? entry.license : `${entry.license}-${count}`, body, packages: [] });
    }
    groups.get(key).packages.push({ ...entry, copyrights, body });
  }
  return [...groups.values()];
}

const holders = (entry) => (entry.copyrights.length > 0 ? entry.copyrights.join('; ') : 'names no holder');

function notices(groups) {
  const part = (group) =>
    `${group.packages.map((entry) => `${entry.name} ${entry.version} (${entry.license}): ${holders(entry)}`).join('\n')}\n\n${group.body}\n`;
  return `Software of others in the pages of foretrain (what --html writes and serve shows), with its licences.
Made by web/notices.mjs from web/package-lock.json and the packages' licence files.

${groups.map(part).join(`\n${'-'.repeat(80)}\n\n`)}`;
}

const indented = (text) => text.split('\n').map((line) => (line === '' ? ' .' : ` ${line}`)).join('\n');

/** debian.org/doc/packaging-manuals/copyright-format/1.0 */
function debianCopyright(groups) {
  const all = groups.flatMap((group) => group.packages).sort((a, b) => (a.name < b.name ? -1 : 1));
  const named = new Map();
  for (const entry of all) {
    for (const line of [...entry.copyrights, ...(entry.body.match(/^ *Copyright \W*\w*\W*\d{4}.*$/gm) ?? [])]) {
      const holder = line.trim().replace(/^copyright\s*(\(c\)\s*)?/i, '').replace(/\. All rights reserved\.?$/i, '');
      named.set(holder, [...(named.get(holder) ?? []), entry.name]);
    }
  }
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: foretrain
Comment: Made by web/notices.mjs from web/package-lock.json and the packages' licence files.

Files: *
Copyright: the foretrain project
License: Apache-2.0

Files: web/report/page.html.gz web/workshop/page.html.gz
Copyright: the foretrain project
${[...named].map(([holder, names]) => ` ${holder} (${names.join(', ')})`).join('\n')}
License: Apache-2.0 and ${groups.map((group) => group.name).join(' and ')}
Comment: The pages contain these packages:
${all.map((entry) => ` ${entry.name} ${entry.version} (${groups.find((group) => group.packages.some((one) => one.name === entry.name)).name})`).join('\n')}

License: Apache-2.0
 On Debian systems, the full text of the Apache License 2.0 is in the file
 /usr/share/common-licenses/Apache-2.0.

${groups.map((group) => `License: ${group.name}\n${indented(group.body)}`).join('\n\n')}
`;
}

/** What a page shows at its end: the notices, folded. */
export function noticesFold() {
  const escaped = readFileSync(kNotices, 'utf8').replace(/[&<>]|[^\x00-\x7e]/gu, (c) => `&#${c.codePointAt(0)};`);
  return `<details class="licences" style="margin:0 20px 20px"><summary>Licences of the software in this page</summary><pre style="white-space:pre-wrap;font-size:12px">${escaped}</pre></details>`;
}

if (process.argv[1]?.endsWith('notices.mjs')) {
  const groups = groupsOf(productionPackages());
  writeFileSync(kNotices, notices(groups));
  writeFileSync(kDebian, debianCopyright(groups));
  console.log(`notices: ${groups.reduce((sum, group) => sum + group.packages.length, 0)} packages, ${groups.length} texts`);
}
