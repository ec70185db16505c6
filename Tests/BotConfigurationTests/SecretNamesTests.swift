import Testing

@testable import BotConfiguration

struct SecretNamesTests {
    @Test(arguments: [
        "token", "botToken", "BOT_TOKEN", "bot-token", "Bot token", "password", "dbPassword", "API_KEY", "apiKey",
        "apikey",
        "X-Api-Key", "Authorization", "Proxy-Authorization", "clientSecret", "privateKey", "AWS_SECRET_ACCESS_KEY",
        "nsec",
        "passphrase", "Set-Cookie", "token2Secret",
    ])
    func recognizesSecretNames(name: String) {
        #expect(SecretNames.suggestsSecret(name))
    }

    @Test(arguments: [
        "", "key", "publicKey", "tokens", "tokenBudget", "maximumTokens", "TOKEN_FILE", "passwordless", "secretWord",
        "keys",
        "monkey", "perSender", "authorizationURL", "-", "token_",
    ])
    func acceptsOtherNames(name: String) {
        #expect(SecretNames.suggestsSecret(name) == (name == "token_"))
    }

    @Test(arguments: [
        ("--token=abc", true), ("--api-key=x", true), ("--token", false), ("--token=", false), ("--mode=quiet", false),
        ("token=abc", false), ("--", false), ("--=x", false),
    ])
    func recognizesSecretOptions(text: String, isSecret: Bool) {
        #expect(SecretNames.isOption(text) == isSecret)
    }

    @Test(arguments: [
        "wss://user:pass@relay.example", "https://u:p@api.example/path", "https://ghp_1234@api.example",
        "WSS://u:p@h", "postgres://bot:hunter2@db/x", "--proxy=http://u:p@h:8080", "see http://a/ and http://u:p@b",
        "https://u:p@w@h", "https://:p@h",
    ])
    func recognizesPasswordsInURLs(text: String) {
        #expect(SecretNames.hasPassword(text))
    }

    @Test(arguments: [
        "", "wss://relay.example", "https://api.example/a@b", "https://api.example?mail=a@b", "https://api.example#a@b",
        "ssh://git@github.example", "mailto:a@b", "u:p@h", "://", "https://@h",
        "write to http://a.example or me@b.example",
        "<https://a.example>a@b",
    ])
    func acceptsURLsWithoutPasswords(text: String) {
        #expect(!SecretNames.hasPassword(text))
    }
}
