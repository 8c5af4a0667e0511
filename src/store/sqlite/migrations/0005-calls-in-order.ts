/**
 * The order of a call is now its index among the calls of its turn, which a writer has without a lookup;
 * calls from before have the seq of their first event, and both kinds may exist in a turn that was open
 * during the upgrade. So the order is no longer unique: calls are found by their id.
 */
export const callsInOrder = `
DROP INDEX calls_by_turn;
CREATE INDEX calls_by_turn ON calls (thread, turn, seq);
`
