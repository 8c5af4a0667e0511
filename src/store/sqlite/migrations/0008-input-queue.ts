/** The inputs that wait for their turn, as JSON text: the fold of the thread's events about them (IN2). */
export const inputQueue = `
ALTER TABLE threads ADD COLUMN queue TEXT NOT NULL DEFAULT '[]';
`
