// Bot tests use BotKit's types throughout, so importing BotTesting also imports BotKit.
@_exported public import BotKit
