/* Makes a zip of a folder's files, and finds the name of the bot in a zip, with what browsers have.

   A browser does not say which file may be run. Here those may that begin as scripts and programs do. */
(() => {
const TABLE = Uint32Array.from({length: 256}, (_, n) => { for (let bit = 0; bit < 8; bit++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n; });
const crc = (data) => { let sum = ~0; for (const byte of data) sum = TABLE[(sum ^ byte) & 255] ^ (sum >>> 8); return ~sum >>> 0; };
const through = async (data, stream) => new Uint8Array(await new Response(new Blob([data]).stream().pipeThrough(stream)).arrayBuffer());
const bytes = async (file) => new Uint8Array(await file.arrayBuffer());
const nameOf = (manifest) => (/^\s*name\s*=\s*["']([^"']+)["']/m.exec(manifest) || [])[1];
const depth = (path) => path.split("/").length;

/* Little-endian numbers: pairs of a value and its bytes. */
function packed(...fields) {
  const size = fields.reduce((sum, [, width]) => sum + width, 0), view = new DataView(new ArrayBuffer(size));
  let at = 0;
  for (const [value, width] of fields) { if (width === 2) view.setUint16(at, value, true); else view.setUint32(at, value, true); at += width; }
  return new Uint8Array(view.buffer);
}

/* Takes [path, File] pairs; returns {name, data}: what the manifest calls the bot, and the zip. */
async function pack(files) {
  const parts = [], directory = [];
  let at = 0, manifest = null, name;
  for (const [path, file] of files) {
    const data = await bytes(file), called = new TextEncoder().encode(path);
    const content = await through(data, new CompressionStream("deflate-raw"));
    const runs = (data[0] === 35 && data[1] === 33) || (data[0] === 127 && data[1] === 69);
    const common = packed([20, 2], [0x800, 2], [8, 2], [0, 2], [0x21, 2], [crc(data), 4], [content.length, 4], [data.length, 4], [called.length, 2], [0, 2]);
    parts.push(packed([0x04034b50, 4]), common, called, content);
    directory.push(packed([0x02014b50, 4], [0x314, 2]), common, packed([0, 2], [0, 2], [0, 2], [(runs ? 0o100755 : 0o100644) * 65536, 4], [at, 4]), called);
    at += 30 + called.length + content.length;
    if (path.split("/").pop() === "bot.toml" && (manifest === null || depth(path) < depth(manifest))) {
      manifest = path;
      name = nameOf(new TextDecoder().decode(data));
    }
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = packed([0x06054b50, 4], [0, 4], [files.length, 2], [files.length, 2], [size, 4], [at, 4], [0, 2]);
  return {name, data: new Blob([...parts, ...directory, end])};
}

/* Returns what the manifest in a zip calls the bot; undefined if it is no zip, or has none. */
async function named(file) {
  const data = await bytes(file), view = new DataView(data.buffer);
  let end = data.length - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) return undefined;
  let found = null, at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0 && view.getUint32(at, true) === 0x02014b50; left--) {
    const length = view.getUint16(at + 28, true), path = new TextDecoder().decode(data.subarray(at + 46, at + 46 + length));
    if (path.split("/").pop() === "bot.toml" && (found === null || depth(path) < depth(found.path)))
      found = {path, method: view.getUint16(at + 10, true), size: view.getUint32(at + 20, true), at: view.getUint32(at + 42, true)};
    at += 46 + length + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  if (found === null) return undefined;
  const from = found.at + 30 + view.getUint16(found.at + 26, true) + view.getUint16(found.at + 28, true);
  const content = data.subarray(from, from + found.size);
  return nameOf(new TextDecoder().decode(found.method ? await through(content, new DecompressionStream("deflate-raw")) : content));
}

globalThis.arena.zip = {pack, named};
})();
