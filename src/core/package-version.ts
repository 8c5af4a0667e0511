/** The version in package.json. A test compares them, and the build writes what stands there into what is published. */
export const packageVersion: string = '0.3.0'
