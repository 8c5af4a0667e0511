/** What a rule gets: the server's address, and how to identify as an owner. */
export interface HttpFixture {
  /** The address of a server that runs the demo model without a pause, with the demo tools (`holdfast/demo`). */
  readonly baseUrl: string
  /** The headers that identify one owner and the other, where the server has more than one. */
  readonly headersOf?: (owner: 'one' | 'other') => Readonly<Record<string, string>>
}

/** One rule of the HTTP API as data: any runner can check it against any server. */
export interface HttpRule {
  readonly id: string
  readonly claim: string
  /** `two-owners`: only where the fixture has two owners. */
  readonly needs?: 'two-owners'
  /** Resolves if the server follows the rule, rejects with what it did instead. */
  readonly check: (fixture: HttpFixture) => Promise<void>
}
