import Appliance
import BotKit

/// Login by a one-time code to a phone or, if there is none, an e-mail address.
extension Kitchen {
    /// Asks for the address. The next message of the chat is read as one.
    func beginLogin(in chat: ChatID) async throws -> String {
        try await change { state, _ in
            state.household.chats[chat.rawValue, default: ChatState()].login = .address
        }
        return text(.loginAskAddress, for: chat)
    }

    /// Reads a message of a private chat as address or code; nil if the chat is not logging in.
    func continueLogin(_ message: String, in chat: ChatID) async throws -> String? {
        try await load()
        switch state.household.chats[chat.rawValue]?.login {
        case .address?: return try await requestCode(message, in: chat)
        case .code(let challenge, let expiresAt)?: return try await enter(message, challenge, expiresAt, in: chat)
        case nil: return nil
        }
    }

    private func requestCode(_ text: String, in chat: ChatID) async throws -> String {
        let address = text.filter { !$0.isWhitespace }
        let isPhone = address.hasPrefix("+")
        let challenge = LoginChallengeRequest(
            channel: isPhone ? .phone : .email, address: isPhone ? address.filter { $0 != "-" } : address)
        guard (try? challenge.validate()) != nil else { return self.text(.loginAskAddress, for: chat) }
        let answer = await client.send(try APIRequest.loginCode(challenge))
        guard let sent = answer.value(LoginChallenge.self) else {
            return self.text(answer.refusal == nil ? .cloudUnreachable : .loginAskAddress, for: chat)
        }
        let expiresAt = now + Int64(sent.expiresIn)
        try await change { state, _ in
            state.household.chats[chat.rawValue, default: ChatState()].login = .code(
                challengeID: sent.challengeID, expiresAt: expiresAt)
        }
        return self.text(.loginCodeSent, ["minutes": "\(max(1, sent.expiresIn / 60))"], for: chat)
    }

    private func enter(
        _ text: String, _ challenge: String, _ expiresAt: UnixTime, in chat: ChatID
    ) async throws -> String {
        let code = LoginCode(challengeID: challenge, code: text.filter { !$0.isWhitespace })
        guard expiresAt > now else {
            try await endLogin(in: chat)
            return self.text(.loginWrongCode, for: chat)
        }
        guard (try? code.validate()) != nil else { return self.text(.loginWrongCode, for: chat) }
        let answer = await client.send(try APIRequest.login(code))
        guard let grant = answer.value(TokenGrant.self) else {
            return self.text(answer.refusal == nil ? .cloudUnreachable : .loginWrongCode, for: chat)
        }
        // The tokens are in the vault before anything uses them.
        try await client.signIn(grant)
        try await endLogin(in: chat)
        try await update { state, _ in
            state.household.loginChat = chat.rawValue
            return ((), [.synchronize])
        }
        return self.text(.loginDone, for: chat)
    }

    private func endLogin(in chat: ChatID) async throws {
        try await change { state, _ in state.household.chats[chat.rawValue]?.login = nil }
    }

    /// Ends the session here, and in the cloud if it can be reached.
    func logout(in chat: ChatID) async throws -> String {
        _ = await client.send(.logout, timeout: .seconds(3))
        try await client.signOut()
        try await change { state, _ in
            state.household.loginChat = nil
            state.household.chats[chat.rawValue]?.login = nil
        }
        return text(.loginEnded, for: chat)
    }

    /// Tells the person who logged in, once, that the cloud has ended the session.
    func sessionEnded() async {
        guard !(await client.isSignedIn), let chat = state.household.loginChat else { return }
        let (settings, id) = (settings, "session-ended-\(services.clock.nowMilliseconds)")
        try? await change { state, _ in
            guard state.household.loginChat == chat else { return }
            state.household.loginChat = nil
            state.tell(id, chat, .loginEnded, in: settings)
        }
    }
}
