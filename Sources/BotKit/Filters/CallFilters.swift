extension EventFilter<CallEvent> {
    /// Only invitations to a call.
    public static var invite: Self {
        Self { call, _ in if case .invite = call.signal.body { true } else { false } }
    }

    /// Only acceptances of a call.
    public static var accept: Self {
        Self { call, _ in if case .accept = call.signal.body { true } else { false } }
    }

    /// Only rejections of a call.
    public static var reject: Self {
        Self { call, _ in if case .reject = call.signal.body { true } else { false } }
    }

    /// Only ends of a call.
    public static var end: Self {
        Self { call, _ in if case .end = call.signal.body { true } else { false } }
    }
}
