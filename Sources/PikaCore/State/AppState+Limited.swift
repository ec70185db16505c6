extension AppState {
    /// Returns the part of the state that a restricted reader may see: the selected chats, optionally the invitations,
    /// and the call if selected.
    package func limited(
        toChats isShown: (ChatSummary) -> Bool, showsInvites: Bool, showsCall: (ActiveCall) -> Bool
    ) -> AppState {
        var state = self
        let shown = self.chatList.filter(isShown)
        if shown.count != self.chatList.count { state.chatList = SharedArray(shown) }
        let chatIDs = Set(shown.map(\.chatID))
        state.readingChats.formIntersection(chatIDs)
        state.currentChat = nil
        state.peerProfile = nil
        state.followList = []
        if !showsInvites { state.invites = [] }
        if let call = self.activeCall, !showsCall(call) { state.activeCall = nil }
        state.callTimeline = self.callTimeline.filter { $0.callID == state.activeCall?.callID }
        return state
    }
}
