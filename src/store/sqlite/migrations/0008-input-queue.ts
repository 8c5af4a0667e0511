/** The waiting inputs as JSON text: the fold of the thread's events about the queue (IN2). */
export const inputQueue = `
ALTER TABLE threads ADD COLUMN queue TEXT NOT NULL DEFAULT '[]';
`
