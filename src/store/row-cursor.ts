/** Rows that come in portions, looked at one by one. */
export class RowCursor<Row> {
  readonly #fetch: () => Promise<readonly Row[]>
  #rows: readonly Row[] = []
  #at = 0
  #isOver = false

  /** `fetch` gives the next rows, none at the end. */
  constructor(fetch: () => Promise<readonly Row[]>) {
    this.#fetch = fetch
  }

  /** To be awaited before `head` is asked for; most of the time there is nothing to wait for. */
  ready(): Promise<void> | undefined {
    return this.#at < this.#rows.length || this.#isOver ? undefined : this.#load()
  }

  get head(): Row | undefined {
    return this.#rows[this.#at]
  }

  skip(): void {
    this.#at++
  }

  async #load(): Promise<void> {
    this.#rows = await this.#fetch()
    this.#at = 0
    this.#isOver = this.#rows.length === 0
  }
}
