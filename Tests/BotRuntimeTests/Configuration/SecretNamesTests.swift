import Testing

@testable import BotRuntime

struct SecretNamesTests {
    @Test(arguments: [
        "token", "botToken", "BOT_TOKEN", "bot-token", "Bot token", "password", "dbPassword", "API_KEY", "apiKey",
        "apikey",
        "X-Api-Key", "Authorization", "Proxy-Authorization", "clientSecret", "privateKey", "AWS_SECRET_ACCESS_KEY",
        "nsec",
        "passphrase", "Set-Cookie", "token2Secret",
    ])
    func speakOfASecret(name: String) {
        #expect(SecretNames.speaksOfSecret(name))
    }

    @Test(arguments: [
        "", "key", "publicKey", "tokens", "tokenBudget", "maximumTokens", "TOKEN_FILE", "passwordless", "secretWord",
        "keys",
        "monkey", "perSender", "authorizationURL", "-", "token_",
    ])
    func speakOfNone(name: String) {
        #expect(SecretNames.speaksOfSecret(name) == (name == "token_"))
    }

    @Test(arguments: [
        ("--token=abc", true), ("--api-key=x", true), ("--token", false), ("--token=", false), ("--mode=quiet", false),
        ("token=abc", false), ("--", false), ("--=x", false),
    ])
    func options(text: String, isSecret: Bool) {
        #expect(SecretNames.isOption(text) == isSecret)
    }
}
