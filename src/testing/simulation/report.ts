/** Reports a broken rule; the first one ends the simulation. */
export type Report = (rule: string, message: string) => void
