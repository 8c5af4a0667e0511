import { onTestFinished } from 'vitest'
import { type StallingLine, startStallingLine } from './stalling-line.ts'

export type TcpLine = Omit<StallingLine, 'close'>

/** A line on which packets can be made to vanish, for as long as a test runs. */
export async function openTcpLine(target: string): Promise<TcpLine> {
  const line = await startStallingLine(target)
  onTestFinished(() => line.close())
  return line
}
