/** What a rule may know of the server: where it is, and how to be somebody there. */
export interface HttpFixture {
  /** Of a server that runs the demo model without a pause, with the demo tools (`holdfast/demo`). */
  readonly baseUrl: string
  /** What identifies the one owner and the other, where the server knows more than one. */
  readonly headersOf?: (owner: 'one' | 'other') => Readonly<Record<string, string>>
}

/** A promise of the HTTP contract as data: any runner can run it against any server. */
export interface HttpRule {
  readonly id: string
  readonly claim: string
  /** `two-owners`: only where the fixture can be two people. */
  readonly needs?: 'two-owners'
  /** Resolves if the server keeps it, rejects with what it did instead. */
  readonly check: (fixture: HttpFixture) => Promise<void>
}
