/** What depends on Node itself: the tests beside the sources, the rules of stores and of HTTP, and the packed package. */
export const nodeTests: readonly string[] = [
  'src/',
  'test/conformance/store-rules.test.ts',
  'test/server/http-rules.test.ts',
  'test/packed/',
]
