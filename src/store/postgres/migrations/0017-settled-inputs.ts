import type { Migration } from './migration.ts'

/** Inputs that have no message of their own: the turn that each joined, or none if it was withdrawn (IN6). */
export const settledInputs: Migration = {
  version: 17,
  isAdditive: true,
  toSql: (schema) => `
CREATE TABLE ${schema}.inputs (
  thread_id text NOT NULL,
  message_id text NOT NULL,
  turn_id text,
  PRIMARY KEY (thread_id, message_id)
);
`,
}
