/** One step of the schema. Its text never changes once it has been released; a change is a new step. */
export interface Migration {
  readonly version: number
  /** `schema` is the schema's name, already quoted. */
  readonly toSql: (schema: string) => string
  /**
   * The version before this step can go on reading and writing as if it had not been taken: it adds a
   * table, an index, or a column that may be left out. Such a database is opened by that version too, so
   * servers can be replaced one by one (docs/guides/upgrades.md).
   * @default false
   */
  readonly isAdditive?: boolean
}
