/**
 * The order of a call is its place among the calls of its turn, which is known without looking; those
 * that were stored before have the seq of their first event, and the two may meet in a turn that was
 * open meanwhile. So the order is no longer unique: calls are found by their id.
 */
export const callsInOrder = `
DROP INDEX calls_by_turn;
CREATE INDEX calls_by_turn ON calls (thread, turn, seq);
`
