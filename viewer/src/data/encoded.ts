/** Data of the page: base64 of gzipped JSON, in which arrays are {shape, type, data}. */

export interface Encoded {
  shape: number[];
  type: "f4" | "f8" | "i2" | "i4";
  data: string;
}

export interface Table {
  shape: number[];
  values: Float64Array;
}

const KINDS = { f4: Float32Array, f8: Float64Array, i2: Int16Array, i4: Int32Array };

function bytes(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const found = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) found[i] = binary.charCodeAt(i);
  return found;
}

function isEncoded(value: unknown): value is Encoded {
  return typeof value === "object" && value !== null && "shape" in value && "type" in value && "data" in value;
}

/** An array in double precision, from any stored type. */
export function table(encoded: Encoded): Table {
  const raw = bytes(encoded.data);
  return { shape: encoded.shape, values: Float64Array.from(new KINDS[encoded.type](raw.buffer)) };
}

/** Decode all arrays of the data, in place. */
function decoded(value: unknown): unknown {
  if (isEncoded(value)) return table(value);
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decoded(item)]));
  }
  return value;
}

/** Data of the page from its text. */
export async function read(text: string): Promise<unknown> {
  const stream = new Blob([bytes(text.trim())]).stream().pipeThrough(new DecompressionStream("gzip"));
  return decoded(JSON.parse(await new Response(stream).text()));
}
