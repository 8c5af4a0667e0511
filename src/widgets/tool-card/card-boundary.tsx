import { Component, type ReactNode } from 'react'

interface Props {
  /** The data that is rendered. A new value is a new attempt: incomplete arguments may be why it threw. */
  readonly of: unknown
  readonly fallback: ReactNode
  readonly children: ReactNode
}

interface State {
  readonly failed: boolean
  readonly of: unknown
}

/** A card that throws does not affect anything else (CD2). */
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
