/** One step of the schema. Its SQL never changes once it is released; a change is a new step. */
export interface Migration {
  readonly version: number
  /** `schema` is the schema's name, already quoted. */
  readonly toSql: (schema: string) => string
  /**
   * Whether the version before this step can still read and write: it only adds a table, an index, or a column that may be
   * left out. That version opens such a database too, so servers can be replaced one by one (docs/guides/upgrades.md).
   * @default false
   */
  readonly isAdditive?: boolean
}
