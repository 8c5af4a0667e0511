import type { Seq } from '../core/ids.ts'

export interface Gap {
  readonly from: Seq
  readonly to: Seq
}

/** Sees to it that every number of a thread is some fact's (LG1). Told of them in order. */
export class NumberLine {
  #next: Seq = 1

  /** The gap before it, if there is one. */
  cover(from: Seq, to: Seq): Gap | undefined {
    const gap = from > this.#next ? { from: this.#next, to: from - 1 } : undefined
    this.#next = Math.max(this.#next, to + 1)
    return gap
  }

  /** The highest number that anything has. */
  get last(): Seq {
    return this.#next - 1
  }
}
