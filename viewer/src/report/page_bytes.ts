// The bytes of a report as the page holds them: base64 in pieces, decoded when they are read. Comments of 64 KiB are what a browser's parser is quickest with.
import { Bytes, ReportError } from "./container.ts";

/** Bytes of a piece: as src/view/page.cpp writes them. */
const kPiece = 49152;

function decode(text: string, into: Uint8Array): boolean {
  const fast = into as unknown as { setFromBase64?: (t: string) => { read: number; written: number } };
  try {
    if (fast.setFromBase64) {
      const { read, written } = fast.setFromBase64(text);
      return read === text.length && written === into.length;
    }
    const binary = atob(text);
    for (let i = 0; i < binary.length; ++i) into[i] = binary.charCodeAt(i);
    return binary.length === into.length;
  } catch {
    return false;
  }
}

export class PageBytes implements Bytes {
  private readonly bytes: Uint8Array;
  constructor(readonly length: number, private readonly pieces: (string | undefined)[]) {
    if (!Number.isInteger(length) || length < 0 || pieces.length !== Math.ceil(length / kPiece)) throw new ReportError("The page is damaged: it does not hold the report as it says.");
    this.bytes = new Uint8Array(length);
  }
  subarray(from: number, to: number): Uint8Array {
    for (let k = Math.floor(from / kPiece); k * kPiece < Math.min(to, this.length); ++k) {
      const text = this.pieces[k];
      if (text === undefined) continue;
      const begin = k * kPiece, end = Math.min(this.length, begin + kPiece);
      if (!decode(text, this.bytes.subarray(begin, end))) throw new ReportError(`The page is damaged: it does not hold the bytes ${begin} to ${end} of the report.`);
      this.pieces[k] = undefined;
    }
    return this.bytes.subarray(from, to);
  }
}
