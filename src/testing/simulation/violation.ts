/** A promise that was not kept. */
export interface Violation {
  /** The rule of docs/spec.md that was broken. */
  readonly rule: string
  readonly message: string
  /** How many things had happened before. */
  readonly step: number
}

export type Report = (rule: string, message: string) => void
