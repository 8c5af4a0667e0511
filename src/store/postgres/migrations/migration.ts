/** One step of the schema. Its text never changes once it has been released; a change is a new step. */
export interface Migration {
  readonly version: number
  /** `schema` is the schema's name, already quoted. */
  readonly toSql: (schema: string) => string
}
