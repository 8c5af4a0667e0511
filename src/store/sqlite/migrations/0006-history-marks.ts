/**
 * By which a place of another history is told apart (OP6): a thread has a name that is drawn when it is
 * made, and every commit one of its own, which the rows that it wrote say too. Rows from before have none.
 */
export const historyMarks = `
ALTER TABLE threads ADD COLUMN incarnation TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN mark TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN mark TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN mark TEXT NOT NULL DEFAULT '';
UPDATE threads SET incarnation = lower(hex(randomblob(5)));
`
