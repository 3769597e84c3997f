/** Bodies of answers, with a bound. */

/** The largest answer that is read, in bytes. */
export const MAX_ANSWER = 16 * 1024 * 1024;

/** The answer is larger than the bound. */
export class TooLarge extends Error {}

/** Reads the body as text, and gives up where it is larger than `most` bytes. */
export async function readText(answer: globalThis.Response, most: number): Promise<string> {
  if (Number(answer.headers.get("content-length") ?? 0) > most) {
    void answer.body?.cancel().catch(() => undefined);
    throw new TooLarge();
  }
  if (!answer.body) return "";
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const reader = answer.body.getReader();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > most) {
      void reader.cancel().catch(() => undefined);
      throw new TooLarge();
    }
    text += decoder.decode(value, { stream: true });
  }
}
