/** Inputs that have no message of their own: the turn that each joined, or none if it was withdrawn (IN6). */
export const settledInputs = `
CREATE TABLE inputs (
  thread INTEGER NOT NULL,
  message_id TEXT NOT NULL,
  turn_id TEXT,
  PRIMARY KEY (thread, message_id)
) STRICT, WITHOUT ROWID;
`
