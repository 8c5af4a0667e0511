/** Names the folder, made by the first test that needs it, in which the packed package is installed for all runs of `npm test`. */
export const packageVariable = 'HOLDFAST_TEST_PACKAGE'
