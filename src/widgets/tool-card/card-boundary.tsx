import { Component, type ReactNode } from 'react'

interface Props {
  /** What is drawn. Another value is another try: arguments that had not all come may be why it threw. */
  readonly of: unknown
  readonly fallback: ReactNode
  readonly children: ReactNode
}

interface State {
  readonly failed: boolean
  readonly of: unknown
}

/** A card that throws takes nothing else down (CD2). */
export class CardBoundary extends Component<Props, State> {
  override readonly state: State = { failed: false, of: this.props.of }

  static getDerivedStateFromError(): Pick<State, 'failed'> {
    return { failed: true }
  }

  static getDerivedStateFromProps({ of }: Props, state: State): State | null {
    return of === state.of ? null : { failed: false, of }
  }

  override render(): ReactNode {
    return this.state.failed ? this.props.fallback : this.props.children
  }
}
