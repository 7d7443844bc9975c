// Keeps the page's few files, so that it opens without the network once it was seen: the newest where there is one, else the kept.
const kFiles = ['./', 'engine.json', 'engine.js', 'engine.wasm', 'engine.data'];
self.addEventListener('install', (event) => event.waitUntil(caches.open('foretrain').then((kept) => kept.addAll(kFiles))));
self.addEventListener('fetch', (event) => event.respondWith((async () => {
  const kept = await caches.open('foretrain');
  try {
    const fresh = await fetch(event.request);
    if (fresh.ok && event.request.method === 'GET') await kept.put(event.request, fresh.clone());
    return fresh;
  } catch {
    return await kept.match(event.request, { ignoreSearch: true }) ?? Response.error();
  }
})()));
