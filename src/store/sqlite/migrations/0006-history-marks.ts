/**
 * The columns by which a reader's place of another history is recognised (OP6): each thread gets a random
 * incarnation when it is created, and each commit a random mark, which is also stored in the rows that it
 * wrote. Rows from before have none.
 */
export const historyMarks = `
ALTER TABLE threads ADD COLUMN incarnation TEXT NOT NULL DEFAULT '';
ALTER TABLE threads ADD COLUMN mark TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN mark TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN mark TEXT NOT NULL DEFAULT '';
UPDATE threads SET incarnation = lower(hex(randomblob(5)));
`
